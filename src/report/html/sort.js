// The heads of long tables sort their rows. Without scripts the rows stay in the plan's order.
const units = { ns: 1e-9, 'µs': 1e-6, ms: 1e-3, s: 1, min: 60, k: 1e3, M: 1e6, G: 1e9, T: 1e12 };
const number = text => {
  const found = /^([\d.]+) ?(ns|µs|ms|s|min|k|M|G|T|%)?$/.exec(text);
  return found ? found[1] * (units[found[2]] ?? 1) : NaN;
};
const compare = (a, b) => {
  const [x, y] = [number(a), number(b)];
  return isNaN(x) || isNaN(y) ? a.localeCompare(b, 'en', { numeric: true }) : x - y;
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
