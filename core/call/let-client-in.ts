import { isPending, type PendingApproval } from '../base/operation.ts';
import type { LetClientIn } from '../identity/issued-access.ts';
import { runOrRequestApproval } from '../workflow/call-approval.ts';
import type { Services } from '../workflow/services.ts';
import { servicesFor } from '../write/pipeline.ts';

const OPERATION = 'allow_client_request';

/** Returns how a client of another authorization server is let in: by the operation of its person, which may have to wait. */
export function buildLetClientIn(services: Services): LetClientIn {
  return async (given, request) => {
    const context = { ...given, services: servicesFor(services, { caller: given.caller }) };
    const operation = {
      name: OPERATION,
      title: 'Let a client of another authorization server in',
      run: (input: never, as: typeof context) => services.perform(OPERATION, input, as),
    };
    const answer = await runOrRequestApproval(operation, request, context);
    return isPending(answer) ? (answer as PendingApproval) : undefined;
  };
}
