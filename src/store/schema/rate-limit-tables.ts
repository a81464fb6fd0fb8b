import type { ColumnType } from 'kysely';

/** The pace of one kind of call in one workspace, shared by all processes. */
export interface SharedRateLimitTable {
  workspace: string;
  lane: string;
  /** Theoretical arrival time: when everything granted so far is paid for, by the database's clock. */
  tat: ColumnType<Date, Date | undefined, Date>;
  /** Nothing is granted before this time, because a 429 was answered. */
  held_until: ColumnType<Date, Date | undefined, Date>;
  /** How much of its pace the lane had after its last refusal; it has more since, see `store/lanes`. */
  factor: ColumnType<number, number | undefined, number>;
  /** When that was. */
  slowed_at: ColumnType<Date, Date | undefined, Date>;
}

/** The tables of the engine, beside those of the product. */
export interface SharedRateLimitTables {
  lanes: SharedRateLimitTable;
}
