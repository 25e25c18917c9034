import { CopyButton } from '../../../ui/copy.tsx';
import { download } from '../../../ui/download.ts';
import { SHOWN_ONCE } from '../../../ui/secret.tsx';

export function RecoveryCodes({ codes, done }: { codes: readonly string[]; done: () => void }) {
  const text = `${codes.join('\n')}\n`;
  return (
    <section class="panel stack" aria-label="Recovery codes">
      <h3>Recovery codes</h3>
      <p>
        Each signs you in once with your password, without the app or a passkey. <strong>{SHOWN_ONCE}</strong>
      </p>
      <ol class="codes">
        {codes.map((code) => (
          <li key={code}>
            <code>{code}</code>
          </li>
        ))}
      </ol>
      <div class="row">
        <button
          type="button"
          onClick={() => download('mesh-recovery-codes.txt', new Blob([text], { type: 'text/plain' }))}
        >
          Download
        </button>
        <CopyButton text={text} />
        <button type="button" class="push" onClick={done}>
          I stored them
        </button>
      </div>
    </section>
  );
}
