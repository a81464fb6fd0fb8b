/** Content of an element; false and undefined are skipped. */
export type Child = Node | string | false | undefined | Child[];

type Attribute = string | number | boolean | undefined | ((event: Event) => void);

/** Creates an element. Functions become listeners (`onclick`), true an empty attribute; text is never parsed as HTML. */
export function h<Tag extends keyof HTMLElementTagNameMap>(
  tag: Tag,
  attributes: Record<string, Attribute> = {},
  ...children: Child[]
): HTMLElementTagNameMap[Tag] {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (value === undefined || value === false) continue;
    if (typeof value === 'function') element.addEventListener(name.slice(2), value);
    else element.setAttribute(name, value === true ? '' : String(value));
  }
  element.append(...flat(children));
  return element;
}

/** A button that submits no form. */
export function button(attributes: Record<string, Attribute>, ...children: Child[]): HTMLButtonElement {
  return h('button', { type: 'button', ...attributes }, ...children);
}

function flat(children: Child[]): (Node | string)[] {
  return children.flatMap((child) => {
    if (child === undefined || child === false) return [];
    return Array.isArray(child) ? flat(child) : [child];
  });
}

/** Replaces the content of an element. */
export function fill(element: Element, ...children: Child[]): void {
  element.replaceChildren(...flat(children));
}

/** The element with this id. @throws if the page has none */
export function byId(id: string): HTMLElement {
  const found = document.getElementById(id);
  if (found === null) throw new Error(`The page has no element ${id}.`);
  return found;
}

/** A URL that is safe for links (http, https or mailto); otherwise undefined. */
export function safeAddress(raw: unknown): string | undefined {
  if (typeof raw !== 'string' || !URL.canParse(raw)) return undefined;
  return ['http:', 'https:', 'mailto:'].includes(new URL(raw).protocol) ? raw : undefined;
}

/** Runs a change and restores the focus to the element with the same `data-key` or `data-action`. */
export function keepingFocus(root: Element, change: () => void): void {
  const active = document.activeElement;
  const held = active instanceof HTMLElement && root.contains(active) ? active : undefined;
  change();
  if (held === undefined || root.contains(held)) return;
  const again = likeIt(root, held, 'key') ?? likeIt(root, held, 'action');
  if (again !== undefined) again.focus();
  else if (root instanceof HTMLElement) root.focus();
}

function likeIt(root: Element, held: HTMLElement, name: 'key' | 'action'): HTMLElement | undefined {
  const wanted = held.dataset[name];
  if (wanted === undefined) return undefined;
  return [...root.querySelectorAll<HTMLElement>(`[data-${name}]`)].find(
    (one) => one.dataset[name] === wanted,
  );
}

/** Asks for confirmation; resolves to whether the person agrees. */
export function confirmDialog(question: {
  title: string;
  text: string;
  yes: string;
  no?: string;
  style: 'primary' | 'danger';
}): Promise<boolean> {
  const { promise, resolve } = Promise.withResolvers<boolean>();
  const answer = (yes: boolean) => () => {
    resolve(yes);
    dialog.close();
  };
  const dialog = h(
    'dialog',
    { class: 'modal small', 'aria-labelledby': 'question' },
    h('h2', { id: 'question' }, question.title),
    h('p', {}, question.text),
    h(
      'div',
      { class: 'modal-foot' },
      button({ class: 'button', onclick: answer(false) }, question.no ?? 'Cancel'),
      button({ class: `button ${question.style}`, onclick: answer(true) }, question.yes),
    ),
  );
  dialog.addEventListener('close', () => {
    resolve(false);
    dialog.remove();
  });
  document.body.append(dialog);
  dialog.showModal();
  return promise;
}
