import type { Composer } from './composer.ts';

/** Marks the sample table while it is dragged. */
export const SAMPLE_MIME_TYPE = 'application/x-taskthread-sample';

/** Attaches files dropped anywhere on a pane, or the welcome section's sample table, to its composer. */
export function acceptFileDrops(pane: HTMLElement, composer: Composer, sample: () => Promise<File>): void {
  let depth = 0;
  const wanted = ({ dataTransfer }: DragEvent) =>
    dataTransfer !== null &&
    (dataTransfer.types.includes('Files') || dataTransfer.types.includes(SAMPLE_MIME_TYPE));
  const mark = (by: number) => {
    depth = Math.max(0, depth + by);
    pane.classList.toggle('dropping', depth > 0);
  };
  pane.addEventListener('dragenter', (event) => {
    if (wanted(event)) mark(1);
  });
  pane.addEventListener('dragleave', (event) => {
    if (wanted(event)) mark(-1);
  });
  pane.addEventListener('dragover', (event) => {
    if (wanted(event)) event.preventDefault();
  });
  const take = async ({ dataTransfer }: DragEvent) => {
    // Dropped files must be read now: they are not available after an await.
    const files = [...(dataTransfer?.files ?? [])];
    const isSample = dataTransfer?.types.includes(SAMPLE_MIME_TYPE) === true;
    composer.attach(isSample ? [await sample()] : files);
  };
  pane.addEventListener('drop', (event) => {
    if (!wanted(event)) return;
    event.preventDefault();
    mark(-depth);
    void take(event);
  });
}
