import { z } from 'zod';
import { checkBlocks } from './block-validation.ts';
import type { Block, Fields, Team } from './model.ts';
import { explainedRefusal, SlackRefusal } from './slack-refusal.ts';
import type { World } from './world.ts';

/** A modal or Home tab of one person. */
export interface View {
  id: string;
  teamId: string;
  user: string;
  type: 'modal' | 'home';
  blocks: Block[];
  hash: string;
  externalId: string;
  callbackId: string;
  privateMetadata: string;
  notifyOnClose: boolean;
  clearOnClose: boolean;
  /** The modal's title, submit and close texts. */
  texts: Fields;
  /** The input values, by block_id and action_id. */
  values: Record<string, Record<string, Fields>>;
}

const title = z.strictObject({
  type: z.literal('plain_text'),
  text: z.string().min(1).max(24),
  emoji: z.boolean().optional(),
});
const common = {
  blocks: z.array(z.unknown()),
  private_metadata: z.string().max(3000).default(''),
  callback_id: z.string().max(255).default(''),
  external_id: z.string().max(255).default(''),
};
const shape = z.discriminatedUnion('type', [
  z.strictObject({ type: z.literal('home'), ...common }),
  z.strictObject({
    type: z.literal('modal'),
    ...common,
    title,
    submit: title.optional(),
    close: title.optional(),
    clear_on_close: z.boolean().default(false),
    notify_on_close: z.boolean().default(false),
    submit_disabled: z.boolean().optional(),
  }),
]);

/** The most modals on top of each other. */
const MAX_STACK = 3;

/** The open modals and the Home tabs of all people. */
export class Views {
  readonly #world: World;
  readonly #homes = new Map<string, View>();
  readonly #stacks = new Map<string, View[]>();

  constructor(world: World) {
    this.#world = world;
  }

  home(user: string): View | undefined {
    return this.#homes.get(user);
  }

  /** A person's open modals; the last is on top. */
  stack(user: string): View[] {
    return this.#stacks.get(user) ?? [];
  }

  /** @throws SlackRefusal invalid_arguments, duplicate_external_id */
  open(team: Team, user: string, raw: unknown): View {
    const view = this.#make(team, user, raw, 'modal');
    this.#show(user, [view]);
    return view;
  }

  /** @throws SlackRefusal push_limit_reached, invalid_arguments */
  push(team: Team, user: string, raw: unknown): View {
    const stack = this.stack(user);
    if (stack.length >= MAX_STACK) throw new SlackRefusal('push_limit_reached');
    const view = this.#make(team, user, raw, 'modal');
    this.#show(user, [...stack, view]);
    return view;
  }

  /** @throws SlackRefusal not_found, hash_conflict, invalid_arguments */
  update(
    team: Team,
    named: { id?: string | undefined; externalId?: string | undefined },
    hash: string | undefined,
    raw: unknown,
  ): View {
    const all = [...this.#homes.values(), ...[...this.#stacks.values()].flat()];
    const old = all.find(
      (view) =>
        view.teamId === team.id &&
        (named.id === undefined ? view.externalId === named.externalId : view.id === named.id),
    );
    if (old === undefined) throw new SlackRefusal('not_found');
    if (hash !== undefined && hash !== old.hash) throw new SlackRefusal('hash_conflict');
    const fresh = this.#make(team, old.user, raw, old.type, old.externalId);
    Object.assign(old, { ...fresh, id: old.id });
    this.#world.changedFor(old.user);
    return old;
  }

  /** @throws SlackRefusal hash_conflict, invalid_arguments */
  publish(team: Team, user: string, hash: string | undefined, raw: unknown): View {
    const old = this.#homes.get(user);
    if (hash !== undefined && old !== undefined && hash !== old.hash) throw new SlackRefusal('hash_conflict');
    const view = this.#make(team, user, raw, 'home');
    if (old !== undefined) view.id = old.id;
    this.#homes.set(user, view);
    this.#world.changedFor(user);
    return view;
  }

  /** Closes the modal on top, or all. */
  close(user: string, all: boolean): void {
    this.#show(user, all ? [] : this.stack(user).slice(0, -1));
  }

  #show(user: string, stack: View[]): void {
    this.#stacks.set(user, stack);
    this.#world.changedFor(user);
  }

  #make(team: Team, user: string, raw: unknown, type: View['type'], knownExternalId?: string): View {
    const parsed = shape.safeParse(raw);
    if (!parsed.success) {
      const issues = parsed.error.issues.map(
        (issue) => `${issue.message} [json-pointer:/view/${issue.path.join('/')}]`,
      );
      throw explainedRefusal('invalid_arguments', issues);
    }
    const said = parsed.data;
    if (said.type !== type) throw explainedRefusal('invalid_arguments', [`view type must be ${type}`]);
    const blocks = viewBlocks(said.blocks, type);
    const needsSubmit =
      said.type === 'modal' && said.submit === undefined && blocks.some((block) => block.type === 'input');
    if (needsSubmit)
      throw explainedRefusal('invalid_arguments', ['`submit` is required when an `input` block is present']);
    this.#checkExternalId(team, said.external_id, knownExternalId);
    return {
      id: this.#world.ids.next('V'),
      teamId: team.id,
      user,
      type,
      blocks: blocks.map((block) =>
        block.block_id === undefined ? { ...block, block_id: this.#world.ids.letters(5) } : block,
      ),
      hash: `${Math.floor(this.#world.clock.now() / 1000)}.${this.#world.ids.letters(8)}`,
      externalId: said.external_id,
      callbackId: said.callback_id,
      privateMetadata: said.private_metadata,
      notifyOnClose: said.type === 'modal' && said.notify_on_close,
      clearOnClose: said.type === 'modal' && said.clear_on_close,
      texts:
        said.type === 'modal'
          ? { title: said.title, submit: said.submit ?? null, close: said.close ?? null }
          : {},
      values: {},
    };
  }

  #checkExternalId(team: Team, externalId: string, known: string | undefined): void {
    if (externalId === '' || externalId === known) return;
    const open = [...this.#stacks.values()].flat();
    if (open.some((view) => view.teamId === team.id && view.externalId === externalId)) {
      throw new SlackRefusal('duplicate_external_id');
    }
  }
}

/** Slack reports invalid blocks of a view as `invalid_arguments`. */
function viewBlocks(raw: unknown[], type: View['type']): Block[] {
  try {
    return checkBlocks(raw, type);
  } catch (error) {
    if (error instanceof SlackRefusal) throw new SlackRefusal('invalid_arguments', error.extra);
    throw error;
  }
}

/** A view object. */
export function viewJson(team: Team, view: View, root?: View, previous?: View): Fields {
  return {
    id: view.id,
    team_id: team.id,
    type: view.type,
    blocks: view.blocks,
    private_metadata: view.privateMetadata,
    callback_id: view.callbackId,
    external_id: view.externalId,
    state: { values: view.values },
    hash: view.hash,
    clear_on_close: view.clearOnClose,
    notify_on_close: view.notifyOnClose,
    ...view.texts,
    previous_view_id: previous?.id ?? null,
    root_view_id: root?.id ?? view.id,
    app_id: team.bot.appId,
    app_installed_team_id: team.id,
    bot_id: team.bot.botId,
  };
}
