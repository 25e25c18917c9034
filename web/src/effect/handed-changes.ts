import { signal } from '@preact/signals';
import type { PlanRequest } from '../api/types.ts';

/** What another page computed, with what it has to achieve, for Change by intent to plan as it is once it is opened. */
export const handedChanges = signal<PlanRequest | undefined>(undefined);
