import type { AgentService } from '../agent/agent-service.ts';
import type { CallSubject, Misbehaviour } from '../agent/misbehaviour.ts';
import type { DriftCase, RecordedResponse } from './drift-cases.ts';

/** A page such as a gateway's. */
const PAGE = '<html><body>Back soon.</body></html>';
/** Kinds of signed links, and the names of their calls. */
const LINK = /\/storage\/(upload|part|object)\/[\w-]+/g;
const LINK_CALLS = { upload: 'PUT upload', part: 'PUT part', object: 'GET download' };

/** What the service does differently in one conversation. */
export interface Drift {
  /** Undefined for a service that behaves. */
  readonly drifted: DriftCase | undefined;
  /** How many responses were changed. */
  hits: number;
  readonly onResponse?: ((response: RecordedResponse) => void) | undefined;
}

/** Makes an agent service differ from its document, in each project as its own case says. */
export class DriftingService {
  readonly #agent: AgentService;
  /** By the project's title, which is the channel's name. */
  readonly #drifts = new Map<string, Drift>();
  /** The project's title by the ids of projects, tasks and files. */
  readonly #titles = new Map<unknown, string>();

  constructor(agent: AgentService) {
    this.#agent = agent;
    agent.behaviour.refusal = (call, about) => this.#refusal(call, about);
    agent.behaviour.misbehaviour = (call, body, about) => this.#changed(call, body, about);
  }

  /** From now on, the project of this title drifts so. The returned function ends that. */
  begin(title: string, drift: Drift): () => void {
    this.#drifts.set(title, drift);
    return () => this.#drifts.delete(title);
  }

  #titleOf({ params, query, body }: CallSubject): string {
    const sent = typeof body === 'object' ? Object(body) : {};
    const id = params.task_id ?? params.file_id ?? sent.project_id ?? query.project_id;
    return this.#titles.get(id) ?? String(sent.title);
  }

  /** The answer to this call, if it is due. */
  #answerTo(call: string, drift: Drift | undefined) {
    const { drifted, hits } = drift ?? {};
    return drifted?.call === call && drifted.drift.kind === 'answer' && hits === 0
      ? drifted.drift
      : undefined;
  }

  #refusal(call: string, about: CallSubject): number | undefined {
    const drift = this.#drifts.get(this.#titleOf(about));
    const answer = this.#answerTo(call, drift);
    if (drift === undefined || answer === undefined || answer.status < 400 || answer.status >= 500)
      return undefined;
    drift.hits += 1;
    return answer.status;
  }

  #changed(call: string, body: object, about: CallSubject): Misbehaviour | undefined {
    const title = this.#titleOf(about);
    if ('id' in body) this.#titles.set(body.id, title);
    const drift = this.#drifts.get(title);
    if (drift === undefined) return undefined;
    drift.onResponse?.({ call, body });
    this.#spoilLinks(body, drift);
    const answer = this.#answerTo(call, drift);
    if (answer !== undefined) {
      drift.hits += 1;
      const text = JSON.stringify(body);
      if (answer.body === 'html')
        return { kind: 'body', body: PAGE, headers: { 'content-type': 'text/html' } };
      if (answer.body === 'torn') return { kind: 'body', body: text.slice(0, -5) };
      return { kind: 'body', body: { detail: 'Not today' }, status: answer.status };
    }
    const { drifted } = drift;
    if (drifted?.call !== call || drifted.drift.kind !== 'field') return undefined;
    const changed = drifted.drift.change(body);
    if (JSON.stringify(changed) === JSON.stringify(body)) return undefined;
    drift.hits += 1;
    return { kind: 'body', body: changed };
  }

  /** The calls of signed links have no body that tells whose they are: the link does. */
  #spoilLinks(body: object, drift: Drift): void {
    for (const [path, kind] of JSON.stringify(body).matchAll(LINK)) {
      const call = LINK_CALLS[kind as keyof typeof LINK_CALLS];
      drift.onResponse?.({ call });
      const answer = this.#answerTo(call, drift);
      if (answer === undefined) continue;
      drift.hits += 1;
      const { status, body: form } = answer;
      const text = { refusal: 'Not today', html: PAGE, torn: '' }[form];
      this.#agent.faults.add({ call, about: path, fault: { kind: 'status', status, body: text }, times: 1 });
    }
  }
}
