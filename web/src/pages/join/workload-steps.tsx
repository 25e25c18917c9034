import { CodeBlock } from '../../ui/code-block.tsx';
import type { JoinToken } from './join-form.tsx';
import { serverFor } from './join-link.ts';
import { ISSUERS, KUBERNETES, serviceAccountOf } from './workload-request.ts';

type Place = 'github' | 'gitlab' | 'kubernetes' | 'oidc';

interface Setup {
  /** What stands in the definition of the job or pod, so that it has a token for this audience. */
  readonly title: string;
  readonly yaml: string;
}

/** What a workload needs and runs to join, with a token that is no secret. */
export function WorkloadSteps({ token, identity, joinLink }: Pick<JoinToken, 'token' | 'identity' | 'joinLink'>) {
  const { issuer = '', claims = {} } = identity ?? {};
  const place = placeOf(issuer, claims);
  const setup = setupOf(place, serverFor(joinLink), claims);
  const how = place === 'oidc' ? '--identity-file FILE' : `--identity ${place}`;
  const commands = [`mesh init --token ${token} ${how}`, 'mesh up --userspace --daemon'];
  return (
    <section class="stack-small">
      <p>Only workloads of {issuer} whose tokens match join with it: it is no secret, and may stand in the job.</p>
      {setup && <CodeBlock label={setup.title} text={setup.yaml} />}
      <CodeBlock label={place === KUBERNETES ? 'Run in the pod' : 'Run in the job'} text={commands.join('\n')} />
    </section>
  );
}

function placeOf(issuer: string, claims: Readonly<Record<string, string>>): Place {
  if (issuer === ISSUERS['github']) return 'github';
  if (issuer === ISSUERS['gitlab']) return 'gitlab';
  return serviceAccountOf(claims) ? 'kubernetes' : 'oidc';
}

function setupOf(place: Place, audience: string, claims: Readonly<Record<string, string>>): Setup | undefined {
  switch (place) {
    case 'github':
      return { title: 'In the workflow', yaml: 'permissions:\n  id-token: write' };
    case 'gitlab':
      return { title: 'In the job', yaml: `id_tokens:\n  MESH_ID_TOKEN:\n    aud: ${audience}` };
    case 'kubernetes':
      return { title: 'In the pod', yaml: podYaml(audience, serviceAccountOf(claims)?.name ?? '') };
    case 'oidc':
      return undefined;
    default:
      return place satisfies never;
  }
}

function podYaml(audience: string, serviceAccount: string): string {
  return `spec:
  serviceAccountName: ${serviceAccount}
  volumes:
    - name: mesh-token
      projected:
        sources:
          - serviceAccountToken: { path: token, audience: "${audience}" }
  containers:
    - # name, image and command of yours
      volumeMounts: [{ name: mesh-token, mountPath: /var/run/secrets/mesh }]`;
}
