import { settings } from '../../../texts/settings.ts';
import { texts } from '../../../texts/texts.ts';
import { CopyButton } from '../../../ui/copy.tsx';
import { download } from '../../../ui/download.ts';

const words = settings.account;

export function RecoveryCodes({ codes, done }: { codes: readonly string[]; done: () => void }) {
  const text = `${codes.join('\n')}\n`;
  return (
    <section class="panel stack" aria-label={words.codes}>
      <h3>{words.codes}</h3>
      <p>
        {words.codesWhy} <strong>{texts.common.once}</strong>
      </p>
      <ol class="codes">
        {codes.map((code) => (
          <li key={code}>
            <code>{code}</code>
          </li>
        ))}
      </ol>
      <div class="row">
        <button type="button" onClick={() => download(words.codesFile, new Blob([text], { type: 'text/plain' }))}>
          {words.download}
        </button>
        <CopyButton text={text} />
        <button type="button" class="push" onClick={done}>
          {words.kept}
        </button>
      </div>
    </section>
  );
}
