import { button } from './dom.ts';

const paths: Record<string, string> = {
  thread: 'M5 4.5h14v10H11l-4 4v-4H5z',
  smile: 'M12 3a9 9 0 1 0 0 18 9 9 0 0 0 0-18zM8.5 14a4 4 0 0 0 7 0M9 9.5v.5M15 9.5v.5',
  more: 'M5.5 12h.01M12 12h.01M18.5 12h.01',
  close: 'M6 6l12 12M18 6L6 18',
  send: 'M4 12l16-8-5 16-3-7z',
  attach:
    'M19 11l-7.5 7.5a4.5 4.5 0 0 1-6.4-6.4L13 4.3a3 3 0 0 1 4.2 4.2L9.500 16.300a1.500 1.500 0 0 1-2.100-2.100L14 7.500',
  menu: 'M4 7h16M4 12h16M4 17h16',
  lock: 'M6 11h12v9H6zM8.500 11V8a3.500 3.500 0 0 1 7 0v3',
  hash: 'M9 4L7 20M17 4l-2 16M4 9h16M3.500 15h16',
  file: 'M6 3h8l4 4v14H6zM14 3v4h4',
  bolt: 'M13 3L5 14h6l-1 7 8-11h-6z',
  check: 'M5 12.500l4.500 4.500L19 7',
  cross: 'M7 7l10 10M17 7L7 17',
  dot: 'M12 8a4 4 0 1 0 0 8 4 4 0 0 0 0-8z',
  up: 'M7 11v9H4v-9zM7 11l4-7c1.500 0 2.500 1 2 3l-.700 3H19l-1.500 8-1.500 2H7',
  down: 'M7 13V4H4v9zM7 13l4 7c1.500 0 2.500-1 2-3l-.700-3H19l-1.500-8L16 4H7',
  bot: 'M7 4.500c8 0 9 4 4 6.500s-5 8 6 8.500',
};

/** A decorative icon, hidden from screen readers. */
export function icon(name: string): SVGElement {
  const svg = document.createElementNS('http://www.w3.org/2000/svg', 'svg');
  const attributes = { viewBox: '0 0 24 24', class: `icon icon-${name}`, 'aria-hidden': 'true' };
  for (const [attribute, value] of Object.entries(attributes)) svg.setAttribute(attribute, value);
  const path = document.createElementNS('http://www.w3.org/2000/svg', 'path');
  path.setAttribute('d', paths[name] ?? '');
  svg.append(path);
  return svg;
}

/** A button that shows an icon; its name is for screen readers and the pointer. */
export function iconButton(
  name: string,
  picture: string,
  attributes: Parameters<typeof button>[0] = {},
): HTMLButtonElement {
  return button({ class: 'icon-button', 'aria-label': name, title: name, ...attributes }, icon(picture));
}
