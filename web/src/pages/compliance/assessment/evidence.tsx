import type { Signal } from '@preact/signals';
import { useLayoutEffect, useRef } from 'preact/hooks';
import { answer, api } from '../../../api/client.ts';
import { useLoaded } from '../../../api/load.ts';
import { may } from '../../../api/workspace.ts';
import { useAct } from '../../../ui/act.ts';
import { CodeBlock } from '../../../ui/code-block.tsx';
import { CopyButton } from '../../../ui/copy.tsx';
import { download } from '../../../ui/download.ts';
import { say } from '../../../ui/message.tsx';
import { ProblemNotice } from '../../../ui/problem.tsx';
import { ReadResult } from '../../../ui/read-result.tsx';

/** What the archive holds beside the assessment. */
const NEEDED = ['compliance:assess', 'audit:read', 'snapshots:read', 'network:read'];

interface DownloadProps {
  readonly id: string;
  /** Name of the archive, once it was downloaded. */
  readonly name: Signal<string>;
}

/** Downloads the archive for an auditor. */
export function EvidenceDownload({ id, name }: DownloadProps) {
  const abort = useRef<AbortController | undefined>(undefined);
  const { isActing, problem, act } = useAct();
  useLayoutEffect(() => () => abort.current?.abort(), []);
  const fetchArchive = () =>
    act(async () => {
      abort.current = new AbortController();
      const { signal } = abort.current;
      const body = { evidence_id: id };
      try {
        const { data, response } = await api.POST('/api/v1/ai/compliance/evidence', { body, signal, parseAs: 'blob' });
        name.value = nameOf(response) ?? name.value;
        download(name.value, data as Blob);
        say(`${name.value} is downloaded.`);
      } catch (error) {
        if (!signal.aborted) throw error;
      }
    });
  if (!NEEDED.every(may)) return <p class="notice">Requires the scopes audit:read, snapshots:read and network:read.</p>;
  return (
    <div class="stack-small push">
      <ProblemNotice problem={problem.value} />
      <div class="row">
        {isActing.value && (
          <>
            <progress aria-label="Creating the archive…" />
            <span role="status">Creating the archive…</span>
            <button type="button" onClick={() => abort.current?.abort()}>
              Cancel
            </button>
          </>
        )}
        <button type="button" class="primary" disabled={isActing.value} onClick={fetchArchive}>
          Download the evidence
        </button>
      </div>
    </div>
  );
}

/** Contents of the archive, and how it is verified without asking this control plane. */
export function Evidence({ name }: Pick<DownloadProps, 'name'>) {
  return (
    <section class="stack">
      <h2>Evidence for an auditor</h2>
      <p class="dim">
        A signed ZIP of this assessment with its policies, snapshots, approvals and audit log. It can be verified
        without Mesh.
      </p>
      <Verify archive={name.value} />
    </section>
  );
}

function nameOf({ headers }: Response): string | undefined {
  return /filename="([\w.-]+)"/.exec(headers.get('content-disposition') ?? '')?.[1];
}

function Verify({ archive }: { archive: string }) {
  const loaded = useLoaded(() => answer(api.GET('/api/v1/audit/keys')), { live: false });
  return (
    <div class="stack">
      <h3>How to verify it</h3>
      <p class="dim">VERIFY.md in the archive has the commands for sha256sum and OpenSSL. With mesh:</p>
      <ReadResult of={loaded.value}>
        {({ items }) => (
          <Command archive={archive} fingerprint={items.find(({ until }) => until === null)?.fingerprint ?? ''} />
        )}
      </ReadResult>
    </div>
  );
}

function Command({ archive, fingerprint }: { archive: string; fingerprint: string }) {
  const command = `mesh evidence verify ${archive} --key ${fingerprint}`;
  return (
    <>
      <CodeBlock label="How to verify it" text={command} />
      <p class="break">
        Key fingerprint: <code>{fingerprint}</code> <CopyButton text={fingerprint} />
      </p>
      <p class="dim">
        Compare it once with the fingerprint that the operator gives you by another channel. A key in an archive proves
        nothing.
      </p>
    </>
  );
}
