import { announce } from './announcements.ts';
import { drawNav, drawPeople } from './channel-nav.ts';
import { ChannelPane } from './channel-pane.ts';
import { byId } from './dom.ts';
import { Panel } from './inspector-panel.ts';
import { Modal } from './modal.ts';
import { state } from './page-state.ts';
import { subscribe } from './server-connection.ts';
import { ThreadPane } from './thread-pane.ts';

const body = document.body;
const narrow = window.matchMedia('(max-width: 700px)');
const snug = window.matchMedia('(max-width: 1100px)');

/** Shows or hides a side of the page and updates its button. */
function side(name: 'nav' | 'panel', open: boolean): void {
  body.classList.toggle(`with-${name}`, open);
  byId(`show-${name}`).setAttribute('aria-expanded', String(open));
  byId(name).inert = !open && (name === 'panel' || narrow.matches);
}

function toggle(name: 'nav' | 'panel'): void {
  side(name, !body.classList.contains(`with-${name}`));
}

byId('show-nav').addEventListener('click', () => toggle('nav'));
byId('show-panel').addEventListener('click', () => toggle('panel'));
byId('hide-panel').addEventListener('click', () => {
  side('panel', false);
  byId('show-panel').focus();
});
narrow.addEventListener('change', () => side('nav', false));
snug.addEventListener('change', () => side('panel', !snug.matches));
side('nav', false);
side('panel', !snug.matches);

drawPeople(become);
drawNav(() => side('nav', false));
new ChannelPane();
new ThreadPane();
new Modal();
new Panel();

// The URL's fragment keeps the location across reloads: #person/channel/thread.
const [person, channel, thread] = location.hash.slice(1).split('/');
let unsubscribe = () => {};
let first = true;
become(person === '' ? undefined : person);

function become(id: string | undefined): void {
  unsubscribe();
  unsubscribe = subscribe(
    id,
    (event) => {
      state.take(event);
      if (event.kind !== 'start' || !first) return;
      first = false;
      if (state.workspace.channels.some((one) => one.id === channel))
        state.go(channel ?? '', thread || undefined, true);
    },
    (away) => {
      byId('away').hidden = !away;
    },
  );
}

state.on(['place', 'workspace'], () => {
  if (state.me === '') return;
  history.replaceState(null, '', `#${state.me}/${state.channel}/${state.thread ?? ''}`);
  const unread = state.workspace.channels.some(({ id }) => id !== state.channel && state.unread(id) > 0);
  document.title = `${unread ? '• ' : ''}${state.place?.name ?? 'Taskthread'} · Taskthread sandbox`;
});

state.onArrival(({ channel: where, user, text, thread: root, ephemeral }) => {
  if (user === state.me && !ephemeral) return;
  const place =
    where === state.channel ? '' : ` in ${state.workspace.channels.find(({ id }) => id === where)?.name}`;
  announce(
    `${state.nameOf(user)}${root === undefined || ephemeral ? '' : ' replied'}${place}: ${text.slice(0, 120)}`,
  );
});

// The bot's first reply opens the thread of the person's latest message, unless the person has opened another thread.
state.onArrival(({ channel: where, user, thread: root }) => {
  const asked = state.roots(where).findLast((one) => one.user === state.me);
  const isOwnThread = root !== undefined && user === state.workspace.bot && asked?.ts === root;
  const isFree = state.thread === undefined || state.openedAutomatically;
  if (isOwnThread && where === state.channel && isFree && state.thread !== root && !narrow.matches)
    state.go(where, root, true);
});
