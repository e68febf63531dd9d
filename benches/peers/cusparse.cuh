// cuSPARSE, found at run time: no header and no library of it is needed to compile. Its functions have C types here, in
// which its enumerations are ints.
#pragma once

#include <cstdlib>

#include <dlfcn.h>

#include "peer.cuh"

typedef struct cusparseContext* SparseHandle;
typedef struct cusparseSpMatDescr* SparseMatrix;
typedef struct cusparseDnVecDescr* DenseVector;

// Statuses of a call that another way may not meet.
static const int CUSPARSE_NO_MEMORY = 2, CUSPARSE_NO_SUPPORT = 10, CUSPARSE_NO_RESOURCES = 11;

class Cusparse {
public:
    // The types of indices, their base, and the operation.
    static const int INDEX_32 = 2, FROM_ZERO = 0, AS_IT_IS = 0;
    // Algorithms of SpMV.
    static const int DEFAULT = 0, CSR_ALG1 = 2, CSR_ALG2 = 3, SELL_ALG1 = 5;

    int (*create)(SparseHandle*);
    int (*destroy)(SparseHandle);
    int (*version)(SparseHandle, int*);
    const char* (*error_name)(int);
    int (*vector)(DenseVector*, int64_t, void*, cudaDataType);
    int (*drop_vector)(DenseVector);
    int (*csr)(SparseMatrix*, int64_t, int64_t, int64_t, void*, void*, void*, int, int, int, cudaDataType);
    int (*sell)(SparseMatrix*, int64_t, int64_t, int64_t, int64_t, int64_t, void*, void*, void*, int, int, int, cudaDataType);
    int (*drop_matrix)(SparseMatrix);
    typedef int Spmv(SparseHandle, int, const void*, SparseMatrix, DenseVector, const void*, DenseVector, cudaDataType, int, void*);
    Spmv* spmv;
    Spmv* spmv_preprocess;  // missing in old versions
    int (*spmv_bytes)(SparseHandle, int, const void*, SparseMatrix, DenseVector, const void*, DenseVector, cudaDataType, int, size_t*);

    // The library, which is loaded once.
    static const Cusparse& get() {
        static const Cusparse loaded;
        return loaded;
    }

    // Ends what cannot be done in this way, or at all.
    void check(int status, const char* call) const {
        if (status == 0) return;
        const std::string text = call, why = "cuSPARSE: " + text.substr(0, text.find('(')) + ": " + error_name(status);
        const bool other = status == CUSPARSE_NO_MEMORY || status == CUSPARSE_NO_SUPPORT || status == CUSPARSE_NO_RESOURCES;
        cudaGetLastError();
        if (other) throw NotApplicable{why};
        throw Broken{why};
    }

    // The function of this name, or null.
    template <typename F> F find(const char* name) const { return (F)dlsym(library, name); }

    // The function of this name.
    template <typename F> F need(const char* name) const {
        const F found = find<F>(name);
        if (!found) throw NotApplicable{std::string("this version of cuSPARSE has no ") + name};
        return found;
    }

private:
    void* library;

    Cusparse() : library(load()) {
        const auto set = [this](auto& function, const char* name) {
            function = need<std::remove_reference_t<decltype(function)>>(name);
        };
        set(create, "cusparseCreate");
        set(destroy, "cusparseDestroy");
        set(version, "cusparseGetVersion");
        set(error_name, "cusparseGetErrorName");
        set(vector, "cusparseCreateDnVec");
        set(drop_vector, "cusparseDestroyDnVec");
        set(csr, "cusparseCreateCsr");
        sell = find<decltype(sell)>("cusparseCreateSlicedEll");
        set(drop_matrix, "cusparseDestroySpMat");
        set(spmv, "cusparseSpMV");
        set(spmv_bytes, "cusparseSpMV_bufferSize");
        spmv_preprocess = find<Spmv*>("cusparseSpMV_preprocess");
    }

    // SCATTERLAB_CUSPARSE names the file; otherwise the loader's paths are searched, then a toolkit's.
    static void* load() {
        if (const char* file = std::getenv("SCATTERLAB_CUSPARSE")) {
            if (void* found = dlopen(file, RTLD_NOW | RTLD_LOCAL)) return found;
            throw NotApplicable{"SCATTERLAB_CUSPARSE names no library that loads: " + reason()};
        }
        std::vector<std::string> folders{"", "/usr/local/cuda/lib64/"};
        for (const char* name : {"CUDA_HOME", "CUDA_PATH"}) {
            if (const char* folder = std::getenv(name)) folders.push_back(std::string(folder) + "/lib64/");
        }
        for (const std::string& folder : folders) {
            for (const char* name : {"libcusparse.so.13", "libcusparse.so.12", "libcusparse.so"}) {
                if (void* found = dlopen((folder + name).c_str(), RTLD_NOW | RTLD_LOCAL)) return found;
            }
        }
        throw NotApplicable{"cuSPARSE is missing: neither the loader nor /usr/local/cuda/lib64 has libcusparse.so.12 or "
                            ".13, nor has $CUDA_HOME; SCATTERLAB_CUSPARSE may name its file"};
    }

    static std::string reason() {
        const char* why = dlerror();
        return why ? why : "for no known reason";
    }
};

#define CUSPARSE(call) Cusparse::get().check(Cusparse::get().call, #call)

// A handle on the current device, with the default stream and scalars in host memory.
struct Handle {
    SparseHandle handle = nullptr;
    Handle() {
        const int status = Cusparse::get().create(&handle);
        if (status != 0) {
            throw NotApplicable{std::string("cuSPARSE does not start here: ") + Cusparse::get().error_name(status)};
        }
    }
    ~Handle() { Cusparse::get().destroy(handle); }
    Handle(const Handle&) = delete;
    Handle& operator=(const Handle&) = delete;

    // The library's version, such as 12603.
    std::string version() const {
        int number = 0;
        CUSPARSE(version(handle, &number));
        return std::to_string(number);
    }
};

template <typename T> static cudaDataType data_type() { return sizeof(T) == 4 ? CUDA_R_32F : CUDA_R_64F; }
