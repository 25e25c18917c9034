import type { AnyOperation } from '../core/operation.ts';
import type { Services } from '../core/services.ts';
import { addWorkspace } from './add-workspace.ts';
import { changePassword } from './change-password.ts';
import { generateJoinToken } from './generate-join-token.ts';
import { getDiscovery } from './get-discovery.ts';
import { logIn } from './log-in.ts';
import { logOut } from './log-out.ts';

/** Every operation of the service, in the order listings show them. */
export const operations: readonly AnyOperation<Services>[] = [
  getDiscovery,
  logIn,
  logOut,
  changePassword,
  addWorkspace,
  generateJoinToken,
];
