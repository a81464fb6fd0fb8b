import { withReason } from './turn-errors.ts';

export const reviewHeading = 'A review of the work in this thread:';
export const reviewEmpty = 'A review of the work in this thread finished without findings.';
export const restOfReview = 'The rest of the review';
export const reviewTooLong = "The review continues, but it's too long to post here.";

/** `reason` is what the service said, or ''. */
export function reviewFailed(reason: string): string {
  return `A review of the work in this thread failed${withReason(reason)} The answer is unchanged.`;
}
