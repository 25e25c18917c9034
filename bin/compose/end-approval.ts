import { endApproval } from '../../core/identity/end-approval.ts';
import { loadConfig } from './config.ts';
import { inStoppedInstallation } from './stopped-installation.ts';

/**
 * `meshd end-approval`: whoever has the files of the host ends the need for a second person in a workspace.
 *
 * @returns what it did, for people
 * @throws Error that says what to change
 */
export async function endApprovalOnHost({
  configDir,
  workspace,
}: {
  readonly configDir: string;
  readonly workspace: string;
}): Promise<string> {
  return inStoppedInstallation(configDir, loadConfig(process.env, configDir), async (services) => {
    const { spec } = await endApproval(services, workspace);
    return [
      `Administrators of ${spec.slug} approve their own requests from now on (selfApproval), and compliance.secondPerson is off.`,
      'The audit log says so, and every administrator is told for 30 days. Start meshd again.',
    ].join('\n');
  });
}
