import { join } from 'node:path';
import type { AgentService } from './agent/service.ts';
import { BotKeeper } from './bot-keeper.ts';
import { compiledIn } from './chaos/bot-process.ts';
import type { Offers } from './page/offers.ts';
import { type Page, startPage } from './page/server.ts';
import { type SceneryOptions, setScenery } from './scenery.ts';
import type { SlackWorkspace } from './slack/workspace.ts';

export interface PlaygroundOptions extends Omit<SceneryOptions, 'transport'> {
  /** TCP ports of the page on 127.0.0.1, of which the first free one is taken; 0, the default, is any. */
  ports?: number[];
  /** Commands and shortcuts on the page; those of manifest.yml when left out. */
  offers?: Offers;
  /** No bot runs when false: another one is to connect to the workspace. */
  bot?: boolean;
}

/** A workspace in the browser with the bot in it, as a process of its own. */
export interface Playground {
  readonly slack: SlackWorkspace;
  readonly agent: AgentService;
  readonly bot: BotKeeper | undefined;
  readonly page: Page;
  stop(): Promise<void>;
}

/** Starts all of it with some people and channels; `stop` leaves nothing behind. */
export async function openPlayground(options: PlaygroundOptions = {}): Promise<Playground> {
  await using undo = new AsyncDisposableStack();
  const { slack, agent, settings, folder } = await setScenery(options, undo);
  furnish(slack);
  let bot: BotKeeper | undefined;
  if (options.bot !== false) {
    const compiled = await compiledIn(join(folder, 'compiled'));
    const keeper = new BotKeeper({ ...settings, ...compiled }, join(folder, 'bot.log'));
    undo.defer(() => keeper.stop());
    await keeper.start();
    bot = keeper;
  }
  const offers = options.offers === undefined ? {} : { offers: options.offers };
  const page = await startPage({ slack, agent, bot, ports: options.ports ?? [0], ...offers });
  undo.defer(() => page.stop());
  const all = undo.move();
  return { slack, agent, bot, page, stop: () => all.disposeAsync() };
}

/** People and channels, so that there is something to try each rule on. */
function furnish(slack: SlackWorkspace): void {
  const ada = slack.createPerson({ name: 'ada', realName: 'Ada' });
  const grace = slack.createPerson({ name: 'grace', realName: 'Grace' });
  slack.createPerson({ name: 'max', realName: 'Max', kind: 'guest' });
  slack.createChannel({ name: 'sequencing', purpose: 'Runs of the week' });
  slack.createChannel({ name: 'reading-club', purpose: 'One paper every Thursday' });
  slack.createChannel({ name: 'coffee', purpose: 'Where the bot is not', bot: false });
  slack.createChannel({ name: 'assay-42', purpose: 'Not public yet', private: true, members: [ada, grace] });
  slack.openGroupDm([ada, grace]);
  for (const person of slack.team.people.values()) if (person.kind !== 'bot') slack.openDm(person);
}
