import type { CallModel } from '../page-protocol.ts';
import { byId, h } from './dom.ts';
import { state } from './page-state.ts';

const MAX_ROWS = 120;

/** All calls as they happen, newest first. Repeated calls share one row with a count. */
export class CallList {
  readonly #rows = byId('calls');
  #seen: CallModel | undefined;
  #last: { key: string; row: HTMLElement; times: number } | undefined;

  constructor() {
    this.#rows.tabIndex = 0;
    for (const box of document.querySelectorAll<HTMLInputElement>('[data-side]'))
      box.addEventListener('change', () =>
        this.#rows.classList.toggle(`without-${box.dataset.side}`, !box.checked),
      );
    state.on(['calls'], () => this.#draw());
  }

  #draw(): void {
    const from = this.#seen === undefined ? 0 : state.calls.lastIndexOf(this.#seen) + 1;
    if (from === 0) {
      this.#rows.replaceChildren();
      this.#last = undefined;
    }
    for (const call of state.calls.slice(from)) this.#add(call);
    this.#seen = state.calls.at(-1);
    while (this.#rows.childElementCount > MAX_ROWS) this.#rows.lastElementChild?.remove();
  }

  #add(call: CallModel): void {
    const key = `${call.side} ${call.name} ${call.status} ${call.error}`;
    const times = this.#last?.key === key ? this.#last.times + 1 : 1;
    const row = rowOf(call, times);
    if (times > 1) this.#last?.row.remove();
    this.#rows.prepend(row);
    this.#last = { key, row, times };
  }
}

function rowOf({ side, name, ok, status, error, ms, at }: CallModel, times: number): HTMLElement {
  const problem = ok ? undefined : status === 0 ? 'no response' : (error ?? String(status));
  return h(
    'li',
    {
      class: `call call-${side}${ok ? '' : ' call-bad'}`,
      title: `${new Date(at).toLocaleTimeString()}, ${status}`,
    },
    h('span', { class: 'call-name' }, shortName(name)),
    times > 1 && h('span', { class: 'soft' }, `×${times}`),
    problem !== undefined && h('span', { class: 'refused' }, problem),
    h('span', { class: 'call-ms' }, `${Math.round(ms)} ms`),
  );
}

/** Shortens a name such as `POST /experimental/tasks/{task_id}/messages`. */
function shortName(name: string): string {
  return name.replace('/experimental', '').replaceAll(/\{(\w+?)_?id\}/g, '…');
}
