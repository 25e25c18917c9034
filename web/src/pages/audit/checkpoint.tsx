import { answer, api } from '../../api/client.ts';
import { useLoaded } from '../../api/load.ts';
import type { components } from '../../api/schema.d.ts';
import { Chip } from '../../design/chip.tsx';
import { CodeBlock } from '../../ui/code-block.tsx';
import { CopyButton } from '../../ui/copy.tsx';
import { Facts } from '../../ui/facts.tsx';
import { ReadResult } from '../../ui/read-result.tsx';
import { Time } from '../../ui/time.tsx';
import { type AuditEntry, entriesText } from './entry-words.ts';
import { isInstallation, logHeader } from './filter.ts';

/** Up to where the log is signed, by which key, who else has seen it, and how that is verified elsewhere. */
export function Checkpoint() {
  const loaded = useLoaded(
    async () => {
      const params = { header: logHeader.value };
      const [checkpoint, keys] = await Promise.all([
        answer(api.GET('/api/v1/audit/checkpoint', { params })),
        answer(api.GET('/api/v1/audit/keys')),
      ]);
      return { ...checkpoint, key: keys.items.find(({ until }) => until === null)?.fingerprint ?? '' };
    },
    { live: false },
  );
  return <ReadResult of={loaded.value}>{(checkpoint) => <Signed checkpoint={checkpoint} />}</ReadResult>;
}

type SignedCheckpoint = components['schemas']['GetAuditCheckpointResponse'] & { readonly key: string };

function Signed({ checkpoint: { size, at, root, origin, note, key } }: { checkpoint: SignedCheckpoint }) {
  const command = `mesh audit verify --key ${key}${isInstallation.value ? ' --installation' : ''}`;
  return (
    <section class="panel stack-small" aria-label="What is verified">
      <p class="row">
        <Chip tone="ok">● Signed up to entry {(size - 1).toLocaleString('en')}</Chip>
        <span>
          {entriesText(size)} {size === 1 ? 'is' : 'are'} in the newest checkpoint, signed <Time at={at} />.
        </span>
      </p>
      {!isInstallation.value && <Witnesses />}
      <details>
        <summary>How to verify it</summary>
        <div class="stack">
          <p class="dim">
            Run it often, on another machine than this control plane. It reads the whole log, computes its root, and
            compares it with what that machine saw before.
          </p>
          <CodeBlock label="On another machine" text={command} />
          <Facts
            facts={[
              ['Fingerprint of the key', [<code key="key">{key}</code>, ' ', <CopyButton key="copy" text={key} />]],
              ['Which log', <code key="origin">{origin}</code>],
              ['Root', <code key="root">{root}</code>],
            ]}
          />
          <p>
            Checkpoint: <span class="dim">Keep a copy elsewhere: a later log without it was changed.</span>
          </p>
          <CodeBlock label="Checkpoint" text={note} />
        </div>
      </details>
    </section>
  );
}

const TWO_DAYS_MS = 2 * 86_400_000;

/** The entry of each day that tells how many devices verified the log. */
function Witnesses() {
  const loaded = useLoaded(
    async () => {
      const from = new Date(Date.now() - TWO_DAYS_MS).toISOString();
      const query = { actor: 'system:audit', type: 'event', from, limit: 10 } as const;
      const { items } = await answer(api.GET('/api/v1/audit', { params: { query } }));
      return items.find(({ event }) => event === 'audit.witnesses') ?? null;
    },
    { live: false },
  );
  return <ReadResult of={loaded.value}>{(entry) => <Witnessed entry={entry} />}</ReadResult>;
}

function Witnessed({ entry: value }: { entry: AuditEntry | null }) {
  const { witnesses, nodes, size } = value?.detail ?? {};
  if (!value || typeof witnesses !== 'number' || typeof nodes !== 'number' || typeof size !== 'number') {
    return <p class="dim">No device has reported that it verified the log.</p>;
  }
  return (
    <p>
      {witnesses} of {nodes} devices verified the log themselves, each of at least {entriesText(size)},{' '}
      <Time at={value.at} />.
    </p>
  );
}
