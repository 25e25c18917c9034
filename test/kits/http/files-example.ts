import { toYaml } from '../../../core/views/render-yaml.ts';
import { commandBlock } from '../process/page-blocks.ts';
import { type Harness, startHarness } from './harness.ts';
import { joinDevice } from './network-setup.ts';

/** The network of docs/files.md: three devices without a policy, and the policy that the page adds as a file. */
export async function startFilesExample() {
  const harness = await startHarness();
  const admin = await harness.workspace();
  for (const name of ['web-1', 'db-1', 'laptop']) await joinDevice(harness, admin, name);
  return { harness, admin, network: await exported(harness, admin), change: pagePolicy() };
}

async function exported({ api }: Harness, admin: { readonly token: string; readonly workspace: string }) {
  const { body } = await api('GET', '/api/v1/export', admin);
  return (body.resources as unknown[]).map(toYaml).join('---\n');
}

function pagePolicy(): string {
  const { text } = commandBlock('docs/files.md: A repository owns the policies 1');
  const [, document = ''] = text.split("<<'END'\n");
  return document.slice(0, document.indexOf('END\n'));
}
