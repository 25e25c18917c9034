import type { Caller } from '../base/caller.ts';
import { buildAuthenticator } from '../identity/authenticate.ts';
import { buildWorkspaceDirectory } from '../identity/workspace-directory.ts';
import type { Services } from '../workflow/services.ts';
import { servicesFor } from '../write/pipeline.ts';
import type { Gate } from './invoke.ts';
import { buildLetClientIn } from './let-client-in.ts';
import { buildRefusalLog } from './refusals.ts';
import type { Standstill } from './standstill.ts';
import { beginTrace } from './traced-call.ts';

/** The gate that every face calls operations through. */
export interface ServiceGate extends Gate<Services> {
  /** Writes the refusals counted since the last flush to the audit log; each minute, and at the end. */
  flushRefusals(): Promise<void>;
  /** Ends sessions that are not used, and keeps when the others were; each minute, and at the end. */
  flushSessions(options?: { readonly isLast?: boolean }): Promise<void>;
  close(): void;
}

/** @param standstill where writes of a process that stood still are refused */
export function buildGate(services: Services, standstill?: Standstill): ServiceGate {
  const directory = buildWorkspaceDirectory(services);
  const authenticator = buildAuthenticator(services, directory, buildLetClientIn(services));
  const refusals = buildRefusalLog(services, directory);
  return {
    services,
    edition: services.edition,
    authenticate: authenticator.authenticate,
    caughtUp: services.store.caughtUp,
    known: authenticator.known,
    workspaceId: async (name) => (await directory.find(name))?.uid,
    servicesFor: (caller, requireTimely) => servicesFor(services, { caller, requireTimely }),
    ...(standstill && { begin: (signal: AbortSignal, readAt?: number) => standstill.begin(signal, readAt) }),
    refused(operation, error, request, caller, workspace) {
      if (error.code === 'unsupported_version') noteMismatch(services, caller, error.message);
      refusals.count(operation, error, request, caller, workspace);
    },
    traced: (call) => beginTrace(services, call),
    flushRefusals: refusals.flush,
    flushSessions: authenticator.flushSessions,
    close() {
      authenticator.close();
      directory.close();
    },
  };
}

/** So that people see which node is to be upgraded. A newcomer has no peer yet. */
function noteMismatch({ liveness, hearings, clock }: Services, caller: Caller, why: string): void {
  if (caller.kind !== 'device' || caller.workspaces === 'all') return;
  for (const workspace of caller.workspaces) {
    liveness.mismatched(workspace, caller.id, why);
    hearings?.add({ workspace, peer: caller.id, at: clock.now(), mismatch: why });
  }
}
