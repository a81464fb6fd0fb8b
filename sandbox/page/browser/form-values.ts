import { valuesOf } from './inputs.ts';

function inputsIn(root: Element): [string, HTMLElement][] {
  return [...root.querySelectorAll<HTMLElement>('[data-input]')].map((input) => [
    input.dataset.input ?? '',
    input,
  ]);
}

/** What the inputs below an element hold, by `block_id/action_id`; files aside. */
export function valuesIn(root: Element): Record<string, string[]> {
  return Object.fromEntries(inputsIn(root).map(([key, input]) => [key, valuesOf(input)]));
}

/** The files in the inputs below an element, by `block_id/action_id`. */
export function filesIn(root: Element): Record<string, File[]> {
  const found = inputsIn(root).flatMap(([key, input]): [string, File[]][] => {
    const files = input instanceof HTMLInputElement ? input.files : null;
    return files === null ? [] : [[key, [...files]]];
  });
  return Object.fromEntries(found);
}

/** Keeps what people have typed while `change` draws the inputs anew. */
export function keepingValues(root: Element, change: () => void): void {
  const before = new Map(inputsIn(root));
  change();
  for (const [key, input] of inputsIn(root)) {
    const old = before.get(key);
    if (old === undefined) continue;
    // A file input cannot be written to, only put back; the others are filled.
    if (old instanceof HTMLInputElement && old.type === 'file') input.replaceWith(old);
    else refill(input, valuesOf(old), old);
  }
}

function refill(input: HTMLElement, values: string[], old: HTMLElement): void {
  const isText = input instanceof HTMLInputElement || input instanceof HTMLTextAreaElement;
  if (isText && (old instanceof HTMLInputElement || old instanceof HTMLTextAreaElement))
    input.value = old.value;
  else if (input instanceof HTMLSelectElement && values[0] !== undefined) {
    input.value = values[0];
    input.dispatchEvent(new Event('input'));
  } else for (const tick of input.querySelectorAll('input')) tick.checked = values.includes(tick.value);
}
