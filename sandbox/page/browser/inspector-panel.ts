import type { FaultSwitch } from '../page-protocol.ts';
import { announce, warnOnFailure } from './announcements.ts';
import { CallList } from './call-list.ts';
import { button, byId, fill, h, keepingFocus } from './dom.ts';
import { EditRateMeter } from './edit-rate-meter.ts';
import { state } from './page-state.ts';
import { controlBot, setSwitch } from './server-connection.ts';

const phases = {
  starting: 'The bot is starting…',
  running: 'The bot is running',
  down: 'The bot is down',
} as const;

/** The panel "Behind the scenes": the bot, the edit rate, the faults and every call. */
export class Panel {
  readonly #bot = byId('bot');
  #phase: string | undefined;

  constructor() {
    new EditRateMeter();
    new CallList();
    const faults = byId('faults');
    state.on(['bot'], () => this.#drawBot());
    state.on(['switches'], () => keepingFocus(faults, () => fill(faults, ...state.switches.map(switchRow))));
    state.on(['workspace'], () => {
      const { slackApiUrl = '', serviceUrl = '' } = state.staticInfo ?? {};
      fill(byId('slack-address'), slackApiUrl);
      fill(byId('service-address'), serviceUrl);
    });
  }

  #drawBot(): void {
    const { bot } = state;
    if (bot === undefined) {
      fill(
        this.#bot,
        h('p', { class: 'soft' }, 'The sandbox runs no bot of its own. Another bot can connect.'),
      );
      return;
    }
    const { phase, pid } = bot;
    if (this.#phase !== undefined && this.#phase !== phase) announce(phases[phase]);
    this.#phase = phase;
    const down = phase === 'down';
    const press = () => void warnOnFailure(controlBot(down ? 'start' : 'crash'));
    keepingFocus(this.#bot, () =>
      fill(
        this.#bot,
        h(
          'p',
          { class: `phase phase-${phase}` },
          phases[phase],
          pid !== undefined && h('span', { class: 'soft' }, ` process ${pid}`),
        ),
        button(
          {
            class: down ? 'button primary' : 'button danger',
            'data-key': 'bot',
            disabled: phase === 'starting',
            onclick: press,
          },
          down ? 'Start it again' : 'Crash it (kill -9)',
        ),
        down &&
          h(
            'p',
            { class: 'soft' },
            'Slack sends unacknowledged events again after 1 and 5 minutes; with --speed, sooner.',
          ),
      ),
    );
  }
}

function switchRow({ id, name, description, on }: FaultSwitch): HTMLElement {
  return button(
    {
      role: 'switch',
      class: 'switch',
      'aria-checked': String(on),
      'data-key': id,
      onclick: () => void warnOnFailure(setSwitch(id, !on)),
    },
    h('span', { class: 'switch-track', 'aria-hidden': 'true' }),
    h('span', {}, name, h('small', {}, description)),
  );
}
