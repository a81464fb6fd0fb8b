/** The table on a clipboard as rows of cells, from HTML or from lines with tabs; undefined where there is none. */
export function tableOn(clipboard: DataTransfer): string[][] | undefined {
  const page = new DOMParser().parseFromString(clipboard.getData('text/html'), 'text/html');
  const table = page.querySelector('table');
  if (table !== null)
    return [...table.rows].map(({ cells }) => [...cells].map((cell) => (cell.textContent ?? '').trim()));
  const lines = clipboard.getData('text/plain').trimEnd().split(/\r?\n/);
  return lines.every((line) => line.includes('\t')) ? lines.map((line) => line.split('\t')) : undefined;
}
