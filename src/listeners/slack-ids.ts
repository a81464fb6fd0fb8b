import { z } from 'zod';

export const slackTs = z.string().regex(/^\d{1,10}\.\d{6}$/);

/** An id of Slack's; they are stored as they come. */
export const slackId = z.string().regex(/^[\w-]{1,100}$/);
