import type { Kysely } from 'kysely';
import { Messages } from '../../../../src/store/messages.ts';
import { Store } from '../../../../src/store/store.ts';
import type { Tables } from '../../../../src/store/tables.ts';
import { startBroken } from './start.ts';

/** Takes the second copy of a message for another message. */
class GullibleMessages extends Messages {
  override async add(...[key, message]: Parameters<Messages['add']>): Promise<boolean> {
    let { ts } = key;
    while (!(await super.add({ ...key, ts }, message))) ts = (Number(ts) + 0.000001).toFixed(6);
    return true;
  }
}

class BrokenStore extends Store {
  override readonly messages: Messages;

  constructor(db: Kysely<Tables>) {
    super(db);
    this.messages = new GullibleMessages(db);
  }

  protected override within(db: Kysely<Tables>): Store {
    return new BrokenStore(db);
  }
}

await startBroken({ store: (db) => new BrokenStore(db) });
