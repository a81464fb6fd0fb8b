import { button, type Child, h } from './dom.ts';

export interface MenuItem {
  label: Child;
  /** The name for screen readers, if the label is a picture. */
  name?: string;
  danger?: boolean;
  choose: () => void;
}

/** Opens a menu below a button. Arrow keys move, Escape closes and returns the focus to the button. */
export function openMenu(anchor: HTMLElement, name: string, items: MenuItem[], row = false): void {
  const menu = h('div', {
    class: row ? 'menu menu-row' : 'menu',
    role: 'menu',
    'aria-label': name,
    popover: 'auto',
  });
  const buttons = items.map((item) =>
    button(
      {
        role: 'menuitem',
        tabindex: -1,
        class: item.danger ? 'danger' : undefined,
        'aria-label': item.name,
        title: item.name,
        onclick: () => {
          menu.hidePopover();
          item.choose();
        },
      },
      item.label,
    ),
  );
  menu.append(...buttons);
  menu.addEventListener('keydown', (event) => {
    const step = { ArrowDown: 1, ArrowRight: 1, ArrowUp: -1, ArrowLeft: -1 }[event.key];
    if (step === undefined) return;
    event.preventDefault();
    const at = buttons.findIndex((button) => button.matches(':focus'));
    buttons.at((at + step) % buttons.length)?.focus();
  });
  menu.addEventListener('toggle', (event) => {
    if (event instanceof ToggleEvent && event.newState === 'open') return;
    const inside = menu.contains(document.activeElement) || document.activeElement === document.body;
    menu.remove();
    if (inside) anchor.focus();
  });
  (anchor.closest('dialog') ?? document.body).append(menu);
  menu.showPopover();
  placeBelow(menu, anchor);
  buttons[0]?.focus();
}

function placeBelow(menu: HTMLElement, anchor: HTMLElement): void {
  const at = anchor.getBoundingClientRect();
  const { width, height } = menu.getBoundingClientRect();
  const left = Math.max(8, Math.min(at.right - width, window.innerWidth - width - 8));
  const below = at.bottom + 4;
  const top = below + height > window.innerHeight - 8 ? Math.max(8, at.top - height - 4) : below;
  menu.style.left = `${left}px`;
  menu.style.top = `${top}px`;
}
