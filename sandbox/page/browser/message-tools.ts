import type { MessageModel } from '../page-protocol.ts';
import { act } from './announcements.ts';
import { confirmDialog, h } from './dom.ts';
import { editBox } from './edit-box.ts';
import { emoji, PICKER_EMOJI } from './emoji.ts';
import { iconButton } from './icons.ts';
import { type MenuItem, openMenu } from './menu.ts';
import { type PaneName, state } from './page-state.ts';

/** The buttons of a message: react, reply and a menu of further actions. */
export function toolbar(current: () => MessageModel, pane: PaneName, article: HTMLElement): HTMLElement {
  const react = tool('Add a reaction', 'smile', () =>
    openMenu(react, 'Reactions', reactions(current()), true),
  );
  react.setAttribute('aria-haspopup', 'menu');
  const reply = tool('Reply in thread', 'thread', () => {
    const { channel, ts, thread } = current();
    state.go(channel, thread ?? ts);
  });
  const more = tool('More actions', 'more', () =>
    openMenu(more, 'More actions', otherActions(current(), article)),
  );
  more.setAttribute('aria-haspopup', 'menu');
  return h('div', { class: 'tools' }, react, pane === 'channel' && reply, more);
}

function tool(name: string, picture: string, onclick: () => void): HTMLButtonElement {
  return iconButton(name, picture, { 'data-key': `tool/${name}`, onclick });
}

function reactions({ channel, ts }: MessageModel): MenuItem[] {
  return PICKER_EMOJI.map((name) => ({
    label: emoji(name),
    name: name === '+1' ? 'thumbs up' : name.replaceAll('_', ' '),
    choose: () => void act({ kind: 'react', channel, ts, name, on: true }),
  }));
}

function otherActions(message: MessageModel, article: HTMLElement): MenuItem[] {
  const { channel, ts } = message;
  const offered = message.ephemeral ? [] : (state.staticInfo?.messageShortcuts ?? []);
  const shortcuts = offered.map(({ id, name }) => ({
    label: name,
    choose: () => void act({ kind: 'shortcut', callbackId: id, channel, ts }),
  }));
  const copying = (label: string, text: string): MenuItem => ({
    label,
    choose: () => void navigator.clipboard.writeText(text),
  });
  const copies = [copying('Copy text', article.innerText)];
  if (message.permalink !== undefined) {
    copies.push(copying('Copy link', message.permalink));
    copies.push({ label: 'Forward message', choose: () => state.forward(message) });
  }
  if (message.user !== state.me) return [...shortcuts, ...copies];
  return [
    ...shortcuts,
    { label: 'Edit message', choose: () => editBox(message, article) },
    ...copies,
    { label: 'Delete message', danger: true, choose: () => void remove(message) },
  ];
}

async function remove({ channel, ts }: MessageModel): Promise<void> {
  const text = 'Slack also tells the app about the deletion.';
  if (await confirmDialog({ title: 'Delete this message?', text, yes: 'Delete', style: 'danger' })) {
    await act({ kind: 'remove', channel, ts });
  }
}
