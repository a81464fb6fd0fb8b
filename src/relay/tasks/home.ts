import {
  type HomeChannel,
  type HomeList,
  type HomePlace,
  homePageSize,
  homeView,
} from '../../reply/views/home-view.ts';
import type { ViewBlock } from '../../reply/views/view-blocks.ts';
import * as words from '../../reply/words.ts';
import type { TaskPage, TaskRow } from '../../store/tasks.ts';
import type { RelayParts, Workspace } from '../context.ts';
import type { Opened, WindowPlace } from '../windows.ts';
import { channelRefusal } from './access.ts';
import { shownTask } from './shown-task.ts';
import type { TaskList } from './task-list.ts';

/** A person who looks at the Home tab, and what of it. */
export interface HomeRequest {
  workspace: string;
  person: string;
  place: HomePlace;
  /** Slack's hash of the view that the place is from: nothing is shown where the person has turned to another since. */
  hash?: string | undefined;
  /** A sentence about what was just done. */
  note?: string | undefined;
}

/** Somebody wants to change a channel's settings; they are in the channel. */
export interface SettingsRequest extends WindowPlace {
  channel: string;
  person: string;
}

/** What other features put into the Home tab. */
export interface HomeFeatures {
  /** Blocks for the end of the tab. */
  sections?: (workspace: string, person: string) => Promise<readonly ViewBlock[]>;
  /** Opens a channel's settings; `late` where Slack opens nothing any more. Without it there is no button. */
  openChannelSettings?: (request: SettingsRequest) => Promise<Opened>;
}

/** What a look at the records gave. */
interface Look {
  place: HomePlace;
  own: TaskPage;
  channel: TaskPage | { refusal: string } | undefined;
  sections: readonly ViewBlock[];
}

/** The Home tab: at once from our own records, and again when the service has said how the tasks stand. */
export class Home {
  readonly #parts: RelayParts;
  readonly #list: TaskList;
  readonly #features: HomeFeatures;

  constructor(parts: RelayParts, list: TaskList, features: HomeFeatures = {}) {
    this.#parts = parts;
    this.#list = list;
    this.#features = features;
  }

  /** Shows a person's Home tab. Throws a SlackError. */
  async show(request: HomeRequest): Promise<void> {
    const workspace = this.#parts.workspace(request.workspace);
    if (workspace === undefined) return;
    const { person, note } = request;
    const look = await this.#look(workspace, request);
    const rows = [...look.own.rows, ...rowsOf(look.channel)];
    const fresh = this.#list.isFresh(rows);
    const first = this.#view(look, note ?? (fresh ? undefined : words.home.loading));
    const hash = await workspace.views.publish(person, first, request.hash);
    if (hash === undefined || fresh) return;
    const reached = await this.#list.freshen(rows);
    const again = await this.#look(workspace, { ...request, place: look.place });
    // What the person has turned to meanwhile stays.
    await workspace.views.publish(
      person,
      this.#view(again, note ?? (reached ? undefined : words.home.stale)),
      hash,
    );
  }

  /** Opens the settings of the channel that is shown. */
  async openSettings(request: SettingsRequest, place: HomePlace): Promise<void> {
    const { workspace: id, channel, person } = request;
    const workspace = this.#parts.workspace(id);
    if (workspace === undefined) return;
    // Whoever is not in the channel any more sees that in the tab.
    const refusal = await channelRefusal(workspace, channel, person);
    const outcome = refusal === undefined && (await this.#features.openChannelSettings?.(request));
    if (outcome === 'late') await this.show({ workspace: id, person, place, note: words.controlOver.late });
    else if (refusal !== undefined) await this.show({ workspace: id, person, place });
  }

  async #look(workspace: Workspace, { person, place }: HomeRequest): Promise<Look> {
    const own = await this.#page(place.page, (range) => this.#list.ofPerson(workspace.id, person, range));
    const { channel } = place;
    const refusal = channel === undefined ? undefined : await channelRefusal(workspace, channel, person);
    const sections = await this.#sections(workspace.id, person);
    if (channel === undefined || refusal !== undefined) {
      return {
        place: { ...place, page: own.page },
        own,
        channel: refusal === undefined ? undefined : { refusal },
        sections,
      };
    }
    const theirs = await this.#page(place.channelPage, (range) =>
      this.#list.ofChannel(workspace.id, channel, range),
    );
    return { place: { channel, page: own.page, channelPage: theirs.page }, own, channel: theirs, sections };
  }

  /** A page, or the last one where the list has become shorter. */
  async #page(
    wanted: number,
    read: (range: { from: number; most: number }) => Promise<TaskPage>,
  ): Promise<TaskPage & { page: number }> {
    const at = async (page: number) => read({ from: page * homePageSize, most: homePageSize });
    const found = await at(wanted);
    if (found.rows.length > 0 || wanted === 0) return { ...found, page: wanted };
    const last = Math.max(0, Math.ceil(found.count / homePageSize) - 1);
    return { ...(await at(last)), page: last };
  }

  async #sections(workspace: string, person: string): Promise<readonly ViewBlock[]> {
    try {
      return (await this.#features.sections?.(workspace, person)) ?? [];
    } catch (error) {
      this.#parts.log.warn({ err: error }, 'a part of the Home tab is left out');
      return [];
    }
  }

  #view({ place, own, channel, sections }: Look, note: string | undefined) {
    const settings = this.#features.openChannelSettings !== undefined;
    return homeView({
      place,
      own: listOf(own),
      channel: channelOf(channel),
      note,
      settings,
      sections,
      now: Date.now(),
    });
  }
}

function rowsOf(channel: Look['channel']): TaskRow[] {
  return channel === undefined || 'refusal' in channel ? [] : channel.rows;
}

function channelOf(channel: Look['channel']): HomeChannel | undefined {
  return channel === undefined || 'refusal' in channel ? channel : listOf(channel);
}

function listOf({ rows, count }: TaskPage): HomeList {
  return { tasks: rows.map(shownTask), count };
}
