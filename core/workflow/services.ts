import type { CallContext } from '../base/operation.ts';
import type { Narrator } from '../cause/narrator.ts';
import type { PlanServices } from '../intent/plan/services.ts';
import type { StoreFor } from '../write/pipeline.ts';
import type { CallLocks } from './call-locks.ts';

/** The services that operations may reach. `bin/compose/services.ts` supplies the real ones, `test/kits/plane/kit.ts` those of tests. */
export interface Services extends PlanServices {
  /** Words findings for people, where a model is configured. */
  readonly narrator?: Narrator | undefined;
  readonly callLocks: CallLocks;
  /** Present in the services of a call, see `servicesFor`: jobs have the store of the control plane. */
  readonly storeFor?: StoreFor | undefined;
  /** Runs an operation by its name, for a call that was approved. The input is checked again. */
  perform(operation: string, input: unknown, context: CallContext<Services>): Promise<unknown>;
}
