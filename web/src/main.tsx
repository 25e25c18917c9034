import { render } from 'preact';
import { completeAddress } from './api/complete-address.ts';
import { finishSignIn, issuerProblem } from './api/issuers.ts';
import { followChanges } from './api/live.ts';
import { isSignedIn } from './api/session.ts';
import { resume } from './api/sign-in.ts';
import { App } from './app.tsx';
import { followWaiting } from './notifications.ts';
import { checkMoment } from './time/check-moment.ts';
import { titleCutTexts } from './ui/title-of-cut.ts';
import '@fontsource-variable/inter/wght.css';
import './design/tokens.css';
import './style/base.css';
import './style/controls.css';
import './style/shell.css';
import './style/table.css';
import './style/effect.css';

checkMoment();
completeAddress();
followChanges();
followWaiting();
titleCutTexts();
await finishSignIn();
// A session from before would hide why the issuer signed nobody in.
if (!isSignedIn.value && !issuerProblem.value) await resume();
render(<App />, document.getElementById('app') as HTMLElement);
