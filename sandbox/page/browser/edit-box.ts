import type { MessageModel } from '../page-protocol.ts';
import { act } from './announcements.ts';
import { button, h } from './dom.ts';
import { unescaped } from './mrkdwn.ts';
import { state } from './page-state.ts';

/** Opens an input to edit a message in place. Enter saves, Escape cancels. */
export function editBox({ channel, ts, text }: MessageModel, article: HTMLElement): void {
  if (article.querySelector('.edit-box') !== null) return;
  const words = h('textarea', { rows: 3, 'aria-label': 'Edit your message' }, asTyped(text));
  const done = () => {
    box.remove();
    article.classList.remove('editing');
    article.focus();
  };
  const save = async () => {
    if (await act({ kind: 'edit', channel, ts, text: words.value })) done();
  };
  const box = h(
    'form',
    {
      class: 'edit-box',
      onsubmit: (event) => {
        event.preventDefault();
        void save();
      },
    },
    words,
    button({ class: 'button', onclick: done }, 'Cancel'),
    h('button', { type: 'submit', class: 'button primary' }, 'Save'),
  );
  words.addEventListener('keydown', (event) => {
    if (event.key === 'Escape') done();
    if (event.key !== 'Enter' || event.shiftKey || event.isComposing) return;
    event.preventDefault();
    void save();
  });
  article.classList.add('editing');
  article.querySelector('.message-main')?.append(box);
  words.focus();
}

/** A message's text as its author typed it, with names in place of ids. */
function asTyped(text: string): string {
  const people = text.replaceAll(/<@([UW][A-Z0-9]+)>/g, (whole, id: string) => {
    const person = state.person(id);
    return person === undefined ? whole : `@${person.name}`;
  });
  const channels = people.replaceAll(/<#([CG][A-Z0-9]+)(?:\|[^>]*)?>/g, (whole, id: string) => {
    const channel = state.workspace.channels.find((one) => one.id === id);
    return channel === undefined ? whole : `#${channel.name}`;
  });
  return unescaped(channels.replaceAll(/<(https?:[^|>]+)>/g, '$1'));
}
