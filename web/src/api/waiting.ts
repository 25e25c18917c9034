import { signal } from '@preact/signals';

/** Changes and peers that wait for a person here, as last read. */
export const waitingCount = signal(0);
