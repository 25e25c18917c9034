import { fork } from 'node:child_process';
import { once } from 'node:events';
import path from 'node:path';

/**
 * Starts oidc-provider as a process of its own, which ends with this one or when it is disposed.
 *
 * @param mesh address of the control plane that it signs people in for
 * @param resource that it issues access tokens for, to clients that register themselves; absent for none
 */
export async function startOidcProvider(mesh: string, ...resource: readonly string[]) {
  const script = path.resolve('test/kits/process/oidc-provider.ts');
  const args = [`${mesh}/sign-in/corp`, `${mesh}/`, ...resource];
  const child = fork(script, args, { stdio: ['ignore', 'ignore', 'inherit', 'ipc'] });
  const [url] = (await once(child, 'message')) as [string];
  return {
    url,
    async [Symbol.asyncDispose]() {
      const exited = once(child, 'exit');
      child.kill();
      await exited;
    },
  };
}
