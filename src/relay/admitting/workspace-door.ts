import { doorForm, doorNotice, doorSection, type ShownDoor } from '../../reply/views/door-view.ts';
import type { FormView } from '../../reply/views/inputs.ts';
import * as words from '../../reply/words.ts';
import type { Admits } from '../../store/tables-channels.ts';
import { type AdminSection, isAdminNow, type Visitor } from '../admins.ts';
import type { RelayParts } from '../context.ts';
import { type Opened, openAndFill } from '../windows.ts';
import { botsText, readBots } from './bots.ts';

/** Slack waits 3 s for what becomes of a form: who sent it must be known in this time (ms). */
const whoMs = 2_000;

/** What somebody filled into the form. */
export interface FilledDoor {
  admits: Admits | null;
  bots: string;
}

/** What is wrong with the form, by the id of the field below which it is said; nothing where it was saved. */
export type DoorErrors = Readonly<Record<string, string>>;

/** Who may use the agent in a workspace: shown to its admins in the Home tab, and set by them. */
export class WorkspaceDoor implements AdminSection {
  readonly #parts: RelayParts;
  readonly #onChanged: (visitor: Visitor) => Promise<void>;

  /** `onChanged` shows somebody's Home tab anew. */
  constructor(parts: RelayParts, onChanged: (visitor: Visitor) => Promise<void>) {
    this.#parts = parts;
    this.#onChanged = onChanged;
  }

  async section(workspace: string): Promise<ReturnType<typeof doorSection>> {
    return doorSection(await this.#shown(workspace));
  }

  /** Opens the form. Throws a SlackError. */
  async open(visitor: Visitor, triggerId: string): Promise<Opened> {
    const at = { workspace: visitor.workspace, triggerId };
    const said = { notice: doorNotice, failed: words.windowAway };
    return openAndFill(this.#parts, at, said, () => this.#form(visitor));
  }

  /** Saves what an admin sent. */
  async save(visitor: Visitor, { admits, bots: typed }: FilledDoor): Promise<DoorErrors> {
    const { store, log } = this.#parts;
    const { workspace, person } = visitor;
    const bots = readBots(typed);
    if (bots === undefined) return { door_bots: words.botsOdd };
    const late = AbortSignal.timeout(whoMs);
    if (!(await isAdminNow(this.#parts, visitor, late))) {
      if (late.aborted) return { door_admits: words.channelSettingsRefused.unknown };
      const details = { control: 'workspace_settings', by: 'admins', why: 'admins' };
      await store.audit.add({ workspace, person, kind: 'refusal', details });
      return { door_admits: words.door.notAdmin };
    }
    await store.transaction(async (inside) => {
      await inside.workspaceSettings.set(workspace, person, { admits, bots });
      const details = { setting: 'workspace', admits, bots: bots === null ? null : botsText(bots) };
      await inside.audit.add({ workspace, person, kind: 'setting', details });
    });
    log.info({ workspace, person, admits, bots }, 'who may use the agent was set for a workspace');
    this.#onChanged(visitor).catch((error: unknown) =>
      log.debug({ workspace, err: error }, 'a Home tab could not be shown anew'),
    );
    return {};
  }

  async #form(visitor: Visitor): Promise<FormView> {
    if (!(await isAdminNow(this.#parts, visitor))) return doorNotice(words.door.notAdmin);
    return doorForm(await this.#shown(visitor.workspace));
  }

  async #shown(workspace: string): Promise<ShownDoor> {
    const { settings, store } = this.#parts;
    const { admits, bots } = await store.workspaceSettings.get(workspace);
    const usual = { admits: settings.admits, bots: botsText(settings.admitsBots) };
    return { admits, bots: botsText(bots), usual };
  }
}
