import { valuesOf } from './inputs.ts';

function inputsIn(root: Element): [string, HTMLElement][] {
  return [...root.querySelectorAll<HTMLElement>('[data-input]')].map((input) => [
    input.dataset.input ?? '',
    input,
  ]);
}

/** The values of all inputs inside an element except files, by `block_id/action_id`. */
export function valuesIn(root: Element): Record<string, string[]> {
  return Object.fromEntries(inputsIn(root).map(([key, input]) => [key, valuesOf(input)]));
}

/** The files of all inputs inside an element, by `block_id/action_id`. */
export function filesIn(root: Element): Record<string, File[]> {
  const found = inputsIn(root).flatMap(([key, input]): [string, File[]][] => {
    const files = input instanceof HTMLInputElement ? input.files : null;
    return files === null ? [] : [[key, [...files]]];
  });
  return Object.fromEntries(found);
}

/** Keeps the values of inputs that `change` replaces. */
export function keepingValues(root: Element, change: () => void): void {
  const before = new Map(inputsIn(root));
  change();
  for (const [key, input] of inputsIn(root)) {
    const old = before.get(key);
    if (old === undefined) continue;
    // A file input cannot be filled, only put back.
    if (old instanceof HTMLInputElement && old.type === 'file') input.replaceWith(old);
    else refill(input, valuesOf(old), old);
  }
}

function refill(input: HTMLElement, values: string[], old: HTMLElement): void {
  const isText = input instanceof HTMLInputElement || input instanceof HTMLTextAreaElement;
  if (isText && (old instanceof HTMLInputElement || old instanceof HTMLTextAreaElement))
    input.value = old.value;
  else if (
    input instanceof HTMLSelectElement &&
    (values[0] !== undefined || input.options[0]?.value === '')
  ) {
    input.value = values[0] ?? '';
    input.dispatchEvent(new Event('input'));
  } else for (const tick of input.querySelectorAll('input')) tick.checked = values.includes(tick.value);
}
