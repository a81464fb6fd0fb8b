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
  callbackId: string;
  privateMetadata: string;
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
};
const shape = z.discriminatedUnion('type', [
  z.strictObject({ type: z.literal('home'), ...common }),
  z.strictObject({
    type: z.literal('modal'),
    ...common,
    title,
    submit: title.optional(),
    close: title.optional(),
  }),
]);

/** The open modals and the Home tabs of all people: the app opens no modal above another. */
export class Views {
  readonly #world: World;
  readonly #homes = new Map<string, View>();
  readonly #modals = new Map<string, View>();

  constructor(world: World) {
    this.#world = world;
  }

  home(user: string): View | undefined {
    return this.#homes.get(user);
  }

  modal(user: string): View | undefined {
    return this.#modals.get(user);
  }

  /** @throws SlackRefusal invalid_arguments */
  open(team: Team, user: string, raw: unknown): View {
    const view = this.#make(team, user, raw, 'modal');
    this.#modals.set(user, view);
    this.#world.changedFor(user);
    return view;
  }

  /** @throws SlackRefusal not_found, hash_conflict, invalid_arguments */
  update(team: Team, id: string | undefined, hash: string | undefined, raw: unknown): View {
    const all = [...this.#homes.values(), ...this.#modals.values()];
    const old = all.find((view) => view.teamId === team.id && view.id === id);
    if (old === undefined) throw new SlackRefusal('not_found');
    if (hash !== undefined && hash !== old.hash) throw new SlackRefusal('hash_conflict');
    const fresh = this.#make(team, old.user, raw, old.type);
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

  close(user: string): void {
    this.#modals.delete(user);
    this.#world.changedFor(user);
  }

  #make(team: Team, user: string, raw: unknown, type: View['type']): View {
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
    return {
      id: this.#world.ids.next('V'),
      teamId: team.id,
      user,
      type,
      blocks: blocks.map((block) =>
        block.block_id === undefined ? { ...block, block_id: this.#world.ids.letters(5) } : block,
      ),
      hash: `${Math.floor(this.#world.clock.now() / 1000)}.${this.#world.ids.letters(8)}`,
      callbackId: said.callback_id,
      privateMetadata: said.private_metadata,
      texts:
        said.type === 'modal'
          ? { title: said.title, submit: said.submit ?? null, close: said.close ?? null }
          : {},
      values: {},
    };
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
export function viewJson(team: Team, view: View): Fields {
  return {
    id: view.id,
    team_id: team.id,
    type: view.type,
    blocks: view.blocks,
    private_metadata: view.privateMetadata,
    callback_id: view.callbackId,
    external_id: '',
    state: { values: view.values },
    hash: view.hash,
    clear_on_close: false,
    notify_on_close: false,
    ...view.texts,
    previous_view_id: null,
    root_view_id: view.id,
    app_id: team.bot.appId,
    app_installed_team_id: team.installation.organisation?.id ?? team.id,
    bot_id: team.bot.botId,
  };
}
