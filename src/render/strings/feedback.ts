/** Thumbs and comments on an answer. */

export const feedbackThanks = 'Thanks for your feedback! To change it, press the other thumb.';
export const commentTitle = 'Comment on an answer';
export const commentLabel = "What was good, what wasn't?";
export const commentHint = 'Your app admins read this; the agent does not.';
export const commentTooLate = 'This answer is too old to comment on. Press a thumb below a newer one.';
