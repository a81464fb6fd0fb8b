import type { InProcessSandboxOptions } from '../../sandbox/in-process-sandbox.ts';
import type { Channel, Message, Person, SlackWorkspace, Team } from '../../sandbox/slack/slack-workspace.ts';
import { type AccountSummary, accountSection } from '../../src/features/account-form.ts';
import { type AppScene, openAppScene } from './app-scene.ts';

/** What a browser sees at the end of an installation. */
export interface InstallVisit {
  status: number;
  page: string;
  /** Where the app sent the browser for Slack's question. */
  asked: URL;
  /** Where Slack sent it back to, with the code and the state. */
  back: URL;
  cookie: string;
}

/** Several workspaces in one sandbox, and browsers in which people install the app. */
export class MultiWorkspaceScene {
  readonly scene: AppScene;

  constructor(scene: AppScene) {
    this.scene = scene;
  }

  get slack(): SlackWorkspace {
    return this.scene.slack;
  }

  team(id: string): Team {
    const found = this.slack.teams.find((team) => team.id === id);
    if (found === undefined) throw new Error(`There is no workspace ${id}.`);
    return found;
  }

  /** Somebody of a workspace installs the app; `more` is added to what Slack is asked. */
  async install(teamId: string, more: Record<string, string> = {}): Promise<InstallVisit> {
    const first = await this.fetch('/slack/install');
    const asked = new URL(first.headers.get('location') ?? '');
    const cookie = (first.headers.get('set-cookie') ?? '').split(';')[0] ?? '';
    for (const [name, value] of Object.entries({ team: teamId, ...more }))
      asked.searchParams.set(name, value);
    const answer = await fetch(asked, { redirect: 'manual' });
    const back = new URL(answer.headers.get('location') ?? '');
    const last = await this.fetch(`${back.pathname}${back.search}`, cookie);
    return { status: last.status, page: await last.text(), asked, back, cookie };
  }

  /** A browser opens a page of the bot's. */
  async fetch(path: string, cookie = ''): Promise<Response> {
    const url = `http://127.0.0.1:${this.scene.sandbox.bot.port}${path}`;
    return fetch(url, { redirect: 'manual', headers: cookie === '' ? {} : { cookie } });
  }

  /** A person of a workspace, and a channel with everybody and the bot in it. */
  personAndChannel(teamId: string, more: { admin?: boolean } = {}): { person: Person; channel: Channel } {
    const person = this.slack.createPerson({ name: `ann-${teamId}`.toLowerCase(), teamId, ...more });
    return { person, channel: this.slack.createChannel({ name: 'lab', teamId }) };
  }

  /** The person mentions the bot. */
  ask({ person, channel }: { person: Person; channel: Channel }, text: string, root?: Message): Message {
    const mention = `<@${this.team(person.teamId).bot.userId}>`;
    const thread = root === undefined ? {} : { thread: root.ts };
    return this.slack.say({ person, channel, text: `${mention} ${text}`, ...thread });
  }

  /** Waits until a message is answered to its end; the answer is what the bot shows in its thread. */
  async answered(message: Message, root = message): Promise<string> {
    await this.scene.finished({ id: message.channel }, message);
    return this.shown(root);
  }

  /** What the bot shows in a thread. */
  shown(root: Message): string {
    const bot = this.team(root.teamId).bot.userId;
    const replies = this.slack.thread(root.channel, root.ts).filter(({ user }) => user === bot);
    return replies.map((message) => this.slack.visibleText(message)).join('\n\n');
  }

  /** Shows a person the account's part of the Home tab, as the bot does for admins. */
  async showHome(person: Person, account: AccountSummary = { kind: 'none' }): Promise<void> {
    const view = { type: 'home', blocks: accountSection(account) };
    const answer = await fetch(`${this.slack.apiUrl}views.publish`, {
      method: 'POST',
      headers: {
        authorization: `Bearer ${this.team(person.teamId).installation.token}`,
        'content-type': 'application/json',
      },
      body: JSON.stringify({ user_id: person.id, view }),
    });
    if (!(await answer.text()).includes('"ok":true')) throw new Error('The Home tab could not be shown.');
  }

  /** What a person's modal says. */
  modal(person: Person): string {
    return JSON.stringify(this.slack.modal(person)?.blocks ?? '');
  }

  /** A person opens the form of the account; the answer is what the modal says then. */
  async openForm(person: Person): Promise<string> {
    await this.showHome(person);
    await this.slack.click({ person, view: 'home', actionId: 'account_set' });
    await this.scene.until('the form is there', () => {
      const said = this.modal(person);
      return said !== '""' && !said.includes('Loading…');
    });
    return this.modal(person);
  }

  /** A person sets the workspace's account in the form; the answer is what the modal says of it. */
  async setAccount(person: Person, address: string, key: string): Promise<string> {
    await this.openForm(person);
    await this.slack.submitView(person, { account_address: address, account_key: key });
    await this.scene.until('the account was tried', () => {
      const said = this.modal(person);
      return !said.includes('Testing the account') && !said.includes('account_address');
    });
    const said = this.modal(person);
    await this.slack.closeView(person);
    return said;
  }
}

/** A scene of workspaces of which each installs the app by OAuth, `T1` and `T2` at once. */
export async function openMultiWorkspaceScene(
  options: Partial<InProcessSandboxOptions> = {},
): Promise<MultiWorkspaceScene> {
  const teams = [
    { id: 'T1', name: 'One' },
    { id: 'T2', name: 'Two' },
  ];
  const tenants = new MultiWorkspaceScene(
    await openAppScene({ ...options, oauth: true, slack: { teams, ...options.slack } }),
  );
  for (const id of ['T1', 'T2']) await tenants.install(id);
  return tenants;
}
