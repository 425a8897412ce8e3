"use strict";
// Sends a large file in parts: the server takes bodies of a few megabytes. Without this script small files are sent with
// the form.

const form = document.querySelector("[data-uploads]");

function tell(problem) {
    const place = form.querySelector("[data-upload-problem]");
    place.textContent = problem;
    place.hidden = !problem;
    form.querySelector("button").disabled = false;
}

async function send(address, body, headers = {}) {
    const token = form.querySelector("[name=csrfmiddlewaretoken]").value;
    const answer = await fetch(address, { method: "POST", body, headers: { "X-CSRFToken": token, ...headers } });
    if (!answer.ok) {
        throw new Error(answer.status === 422 ? "The file can't be taken as it is: see the fields." : `The server answered ${answer.status}.`);
    }
    return answer;
}

async function upload(file) {
    const fields = new FormData(form);
    fields.delete("file");
    fields.set("file_name", file.name);
    const made = await (await send(form.action, fields, { Accept: "application/json" })).json();
    const size = Number(form.dataset.partBytes);
    const bar = form.querySelector("progress");
    bar.closest("[data-upload-progress]").hidden = false;
    for (let first = 0, number = 1; first < file.size; first += size, number += 1) {
        const part = file.slice(first, first + size);
        await send(`${made["import-part"]}?number=${number}`, part, { "Content-Type": "application/octet-stream" });
        bar.value = Math.min(1, (first + size) / file.size);
    }
    const fieldsOfCheck = new FormData();
    await send(made["check-import"], fieldsOfCheck);
    window.location.assign(made.import);
}

form.addEventListener("submit", (event) => {
    const file = form.querySelector("[type=file]").files[0];
    if (!file) {
        return; // the form says what is missing
    }
    event.preventDefault();
    tell("");
    form.querySelector("button").disabled = true;
    upload(file).catch((error) => tell(error.message));
});
