import { render } from 'preact';
import { completeAddress } from './api/complete-address.ts';
import { followChanges } from './api/live.ts';
import { resume } from './api/sign-in.ts';
import { App } from './app.tsx';
import { checkMoment } from './time/check-moment.ts';
import './style/tokens.css';
import './style/base.css';
import './style/controls.css';
import './style/shell.css';
import './style/table.css';
import './style/effect.css';

checkMoment();
completeAddress();
followChanges();
await resume();
render(<App />, document.getElementById('app') as HTMLElement);
