import { signal } from '@preact/signals';
import type { PlanRequest } from '../api/types.ts';

/** A change that another page computed, with what must hold after it: New change plans it when it opens. */
export const handedChanges = signal<PlanRequest | undefined>(undefined);
