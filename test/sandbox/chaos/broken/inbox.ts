import type { Kysely } from 'kysely';
import type { Tables } from '../../../../src/store/schema.ts';
import { Store } from '../../../../src/store/store.ts';
import { InboxWriter } from '../../../../src/store/threads/inbox.ts';
import { startBroken } from './start.ts';

/** Takes the second copy of a message for another message. */
class GullibleAdmissions extends InboxWriter {
  override async write(...[message]: Parameters<InboxWriter['write']>): ReturnType<InboxWriter['write']> {
    let { ts } = message;
    for (;;) {
      const decision = await super.write({ ...message, ts });
      if (decision.decision !== 'known') return decision;
      ts = (Number(ts) + 0.000001).toFixed(6);
    }
  }
}

class BrokenStore extends Store {
  override readonly inbox: InboxWriter;

  constructor(db: Kysely<Tables>) {
    super(db);
    this.inbox = new GullibleAdmissions(db);
  }

  protected override within(db: Kysely<Tables>): Store {
    return new BrokenStore(db);
  }
}

await startBroken({ store: (db) => new BrokenStore(db) });
