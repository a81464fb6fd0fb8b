import { act } from './announcements.ts';
import { blocks } from './blocks.ts';
import { fill, h, keepingFocus } from './dom.ts';
import { keepingValues, valuesIn } from './form-values.ts';
import { state } from './page-state.ts';

/** The app's Home tab for this person. */
export class HomeTab {
  readonly element = h('section', {
    class: 'home scroller',
    'aria-label': "Taskthread's Home",
    hidden: true,
  });
  #drawn = '';

  constructor() {
    state.on(['private', 'workspace'], () => this.#draw());
  }

  #draw(): void {
    const { home } = state.privateView;
    const key = `${state.me} ${home?.id} ${home?.hash}`;
    if (key === this.#drawn) return;
    this.#drawn = key;
    const surface = {
      act: (pressed: { actionId: string; value?: string; values?: string[] }) =>
        act({ kind: 'click', view: 'home', state: valuesIn(this.element), ...pressed }),
    };
    const shown =
      home === undefined
        ? h('p', { class: 'soft empty' }, 'The app has not published a Home tab for you yet.')
        : h('div', { class: 'home-page' }, ...blocks(home.blocks, surface));
    keepingFocus(this.element, () => keepingValues(this.element, () => fill(this.element, shown)));
  }
}
