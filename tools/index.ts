import type { AnyOperation } from '../core/operation.ts';
import type { Services } from '../core/services.ts';
import { getDiscovery } from './get-discovery.ts';

/** Every operation of the service, in the order listings show them. */
export const operations: readonly AnyOperation<Services>[] = [getDiscovery];
