import { warnOnFailure } from './announcements.ts';
import { state } from './page-state.ts';
import { performAction } from './server-connection.ts';

/** Opens the app's Home or Messages tab and notifies the app, as Slack does. */
export function openApp(tab: 'home' | 'messages'): void {
  const { botDm, me } = state;
  if (botDm === undefined) return;
  if (botDm.id !== state.channel) state.go(botDm.id);
  if (tab !== state.tab) state.show(tab);
  void warnOnFailure(performAction({ kind: 'open-app', person: me, tab }));
}
