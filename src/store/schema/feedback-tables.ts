import type { Generated } from 'kysely';

/** What one person thinks of one answer. */
export interface FeedbackTable {
  workspace: string;
  turn: string;
  person: string;
  good: boolean;
  /** The person's words; null: none were written, or their time is over. */
  comment: string | null;
  said_at: Generated<Date>;
}

/** The answer that told a channel, once, that it comes from an automated system. */
export interface IntroductionTable {
  workspace: string;
  channel: string;
  turn: string;
  said_at: Generated<Date>;
}
