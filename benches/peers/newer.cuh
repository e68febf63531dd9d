// The same peer built with a newer release of its library: the program of this peer's name in the folder `newer` beside
// it. It speaks the same protocol, in a process of its own, because two releases do not fit in one program.
#pragma once

#include <string>

#include <sys/wait.h>
#include <unistd.h>

class Newer {
public:
    // Starts the program, if there is one; before this process uses the device, whose context no child may inherit.
    explicit Newer(const std::string& name) {
        char self[4096];
        const ssize_t length = readlink("/proc/self/exe", self, sizeof self);
        if (length <= 0 || length == sizeof self) return;
        std::string program(self, (size_t)length);
        program = program.substr(0, program.rfind('/')) + "/newer/" + name;
        int to[2], from[2];
        if (access(program.c_str(), X_OK) != 0 || pipe(to) != 0) return;
        if (pipe(from) != 0) {
            for (const int end : to) close(end);
            return;
        }
        child = fork();
        if (child == 0) {
            dup2(to[0], STDIN_FILENO);
            dup2(from[1], STDOUT_FILENO);
            for (const int end : {to[0], to[1], from[0], from[1]}) close(end);
            execl(program.c_str(), name.c_str(), (char*)nullptr);
            _exit(127);
        }
        close(to[0]);
        close(from[1]);
        orders = fdopen(to[1], "w");
        answers = fdopen(from[0], "r");
        if (child < 0) stop();
    }
    ~Newer() { stop(); }
    Newer(const Newer&) = delete;
    Newer& operator=(const Newer&) = delete;

    bool is_there() const { return child > 0; }

    // The answer to an order; none of a program that has ended, which is asked nothing more.
    std::string ask(const std::string& order) {
        if (!is_there()) return "";
        char* line = nullptr;
        size_t room = 0;
        const bool sent = std::fprintf(orders, "%s\n", order.c_str()) > 0 && std::fflush(orders) == 0;
        const ssize_t length = sent ? getline(&line, &room, answers) : -1;
        std::string answer = length > 0 ? std::string(line, (size_t)length) : "";
        std::free(line);
        while (!answer.empty() && answer.back() == '\n') answer.pop_back();
        if (answer.empty() || answer.rfind("failed", 0) == 0) stop();
        return answer;
    }

    // Seconds of `batch` executions of what it has prepared; 0 if it gives none.
    double seconds(u64 batch) {
        const std::string answer = ask("sample " + std::to_string(batch)), word = "seconds ";
        return answer.rfind(word, 0) == 0 ? std::strtod(answer.c_str() + word.size(), nullptr) : 0;
    }

private:
    pid_t child = -1;
    FILE *orders = nullptr, *answers = nullptr;

    void stop() {
        for (FILE** file : {&orders, &answers}) {
            if (*file) std::fclose(*file);
            *file = nullptr;
        }
        if (child > 0) waitpid(child, nullptr, 0);
        child = -1;
    }
};
