import "./early";
import { mount } from "svelte";

import App from "./App.svelte";
import "./app.css";
import { keepFocus } from "./lib/kept/focus";
import "./lib/theme.svelte";

keepFocus();
mount(App, { target: document.getElementById("app")! });
