import type { CallModel } from '../page-protocol.ts';
import { byId, fill, h } from './dom.ts';
import { state } from './page-state.ts';

const WINDOW_SECONDS = 60;
const CALL_HEIGHT_PX = 4;

/** Shows the use of Slack's chat.update limit, with a column for each of the last 60 seconds. */
export class EditRateMeter {
  readonly #columns = Array.from({ length: WINDOW_SECONDS }, () => h('span', { class: 'second' }));
  readonly #meter = byId('edit-meter');
  #drawn = '';

  constructor() {
    this.#meter.role = 'meter';
    this.#meter.ariaLabel = 'chat.update calls in the last minute';
    this.#meter.ariaValueMin = '0';
    this.#meter.append(...this.#columns);
    state.on(['calls', 'workspace'], () => this.#draw());
    setInterval(() => this.#draw(), 1_000);
  }

  #draw(): void {
    const most = state.staticInfo?.editsPerMinute ?? 0;
    const now = Date.now();
    const recent = state.calls.filter(
      ({ name, at }) => name === 'chat.update' && at > now - WINDOW_SECONDS * 1_000,
    );
    const columnOf = ({ at }: CallModel) => WINDOW_SECONDS - 1 - Math.floor((now - at) / 1_000);
    // Painting the same again would cost as much as a change.
    const key = JSON.stringify([most, recent.map((call) => [columnOf(call), call.status])]);
    if (key === this.#drawn) return;
    this.#drawn = key;
    const taken = recent.filter(({ status }) => status !== 429).length;
    const refused = recent.length - taken;
    fill(
      byId('edits'),
      h('strong', {}, String(taken)),
      ` of ${most} allowed by Slack`,
      refused > 0 && h('span', { class: 'refused' }, `, ${refused} refused`),
    );
    this.#meter.setAttribute('aria-valuemax', String(most));
    this.#meter.setAttribute('aria-valuenow', String(Math.min(most, taken)));
    for (const [at, column] of this.#columns.entries()) {
      const inSecond = recent.filter((call) => columnOf(call) === at);
      column.style.height = `${inSecond.length === 0 ? 2 : Math.min(28, 4 + inSecond.length * CALL_HEIGHT_PX)}px`;
      column.classList.toggle('used', inSecond.length > 0);
      column.classList.toggle(
        'refused',
        inSecond.some(({ status }) => status === 429),
      );
    }
  }
}
