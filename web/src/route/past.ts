import { signal } from '@preact/signals';

/** Names of the pages that show the network as it was at the time that is looked at, in the order of the side bar. */
export const pagesOfPast = signal<readonly string[]>([]);
