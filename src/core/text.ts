/** Does every database keep the text as it stands? PostgreSQL refuses NUL, and half a surrogate pair would come back as another character, the same for all such halves. */
export const isKept = (text: string): boolean => !text.includes('\0') && text.isWellFormed();

/** What to do about a text that is not; `what` says where it stands. */
export const leaveOut = (what: string): string =>
  `Leave NUL and halves of surrogate pairs out of ${what}: no database keeps them.`;

/** A name that is not kept, as it may be shown. */
export const shownName = (name: string): string => JSON.stringify(name);
