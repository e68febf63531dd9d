// The heads of long tables sort their rows. Without scripts the rows stay in the plan's order.
const scales = {
  ns: 1e-9, 'µs': 1e-6, ms: 1e-3, s: 1, min: 60, k: 1e3, M: 1e6, G: 1e9, T: 1e12, Ki: 2 ** 10, Mi: 2 ** 20, Gi: 2 ** 30,
};
// A number with its prefix, whatever unit and words follow: 3.2 GB/s, 512Ki random, 71.6 µs.
const number = text => {
  const found = /^(-?[\d.]+)(?: ?(ns|µs|ms|s|min)\b| ?([KMG]i|[kMGT])(?=B|elem|FLOP|\W|$))?/.exec(text);
  return found ? found[1] * (scales[found[2] ?? found[3]] ?? 1) : NaN;
};
const compare = (a, b) => {
  const difference = number(a) - number(b);
  return difference || a.localeCompare(b, 'en', { numeric: true });
};
for (const table of document.querySelectorAll('table.sorted')) {
  const [heads, body] = [[...table.tHead.rows[0].cells], table.tBodies[0]];
  heads.forEach((head, at) => {
    if (!head.textContent) return;
    const button = document.createElement('button');
    button.textContent = head.textContent;
    head.replaceChildren(button);
    button.onclick = () => {
      const order = head.ariaSort === 'ascending' ? 'descending' : 'ascending';
      heads.forEach(other => { other.ariaSort = null; });
      head.ariaSort = order;
      const text = row => row.cells[at].textContent.trim();
      const rows = [...body.rows].sort((a, b) => compare(text(a), text(b)));
      body.append(...(order === 'ascending' ? rows : rows.reverse()));
    };
  });
}
