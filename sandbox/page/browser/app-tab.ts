import { warnOnFailure } from './announcements.ts';
import { state } from './page-state.ts';
import { performAction } from './server-connection.ts';

/** Shows the app's Home, or its messages with this person; the app hears of it, as in Slack. */
export function openApp(tab: 'home' | 'messages'): void {
  const { botDm, me } = state;
  if (botDm === undefined) return;
  if (botDm.id !== state.channel) state.go(botDm.id);
  if (tab !== state.tab) state.show(tab);
  void warnOnFailure(performAction({ kind: 'open-app', person: me, tab }));
}
